//! askway carries an agent's question to the session that sent it the work, holds it durably with a
//! route timer, moves it to a person on timeout or refusal, and streams the answer to whoever waits.
pub mod ask;
pub mod session;
pub mod service {}
pub mod engine {
    pub mod clock {}
}
