//! A second server that has all that the first has acknowledged, and the loss of the first.

use super::cluster::{Cluster, command, new_folder};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;

impl Cluster {
    /// A standby of this one, without which nothing is acknowledged from now on.
    pub fn standby(&self) -> Cluster {
        let folder = new_folder(self.account);
        let mut copy = command(&self.programs.join("pg_basebackup"), self.account);
        let copy = copy.args(["-U", "askway", "-R", "-X", "stream", "-c", "fast", "-h"]);
        let copy = copy.arg(&self.folder).args(["-p", &self.port.to_string(), "-D"]);
        let copied = copy.arg(folder.join("data")).output().unwrap();
        let said = String::from_utf8_lossy(&copied.stderr);
        assert!(copied.status.success(), "pg_basebackup: {said}");
        let standby = Cluster::run(folder, self.programs.clone(), self.account, "");
        self.sql("postgres", "alter system set synchronous_standby_names = '*'");
        self.sql("postgres", "select pg_reload_conf()");
        let follows = "select count(*) from pg_stat_replication where sync_state = 'sync'";
        while self.sql("postgres", follows) != "1" {
            std::thread::yield_now();
        }
        standby
    }

    /// SIGKILL, and it is gone with all it had.
    pub fn kill(&mut self) {
        let pid = fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap();
        let pid = pid.lines().next().and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
        kill_process(pid.expect("it runs"), Signal::KILL).unwrap();
        self.runs.wait().unwrap();
    }
}
