//! `askway demo`.
use super::render::Out;
use super::{Exit, Failure};
/// See it work.
#[derive(Debug, clap::Args)]
pub struct Args {}
pub(super) async fn run(_: Args, _out: &mut Out) -> Result<Exit, Failure> {
    Ok(Exit::Done)
}
