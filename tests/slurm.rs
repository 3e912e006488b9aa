//! The script of `vkcert pipeline slurm`: its words, and what a real Slurm makes of it, started here
//! in a folder of its own on this machine.

use crate::many_kernels::write_project;
use crate::support::{assert_same_results, run, vkcert, write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn words_of_the_script_are_quoted() {
    let mut command = vkcert();
    command.args(["pipeline", "slurm", "a project's", "--shards", "3", "--out", "o$ut"]);
    command.args(["--gres", "gpu:1", "--sbatch=--partition=a b", "--", "--engine", "sequential"]);
    let script = String::from_utf8(run(&mut command, 0).stdout).unwrap();
    for part in ["--array=1-3", "--gres='gpu:1'", "'--partition=a b'", "'--engine' 'sequential'"] {
        assert!(script.contains(part), "{part}\n{script}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = write(
        folder.path(),
        "job.sh",
        script.split("mkdir -p").next().unwrap().to_owned() + "echo \"$project|$out\"\n",
    );
    let told = Command::new("sh").arg(&file).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&told.stdout), "a project's|o$ut\n");
    run(vkcert().args(["pipeline", "slurm", "--shards", "0", "--out", "o"]), 2);
}

/// Slurm with one node of several processors, whatever this machine has.
struct Slurm {
    folder: tempfile::TempDir,
}

impl Slurm {
    fn start(port: u16) -> Self {
        let slurm = Self { folder: tempfile::tempdir().unwrap() };
        let folder = slurm.folder.path().display().to_string();
        for name in ["state", "spool", "munge"] {
            std::fs::create_dir(slurm.path(name)).unwrap();
        }
        std::fs::write(slurm.path("munge/key"), [7; 1024]).unwrap();
        succeed(Command::new("chmod").args(["755", &folder]));
        succeed(
            Command::new("chmod").arg("700").args([slurm.path("munge"), slurm.path("munge/key")]),
        );
        let mut munged = Command::new("/usr/sbin/munged");
        munged.arg("--force");
        for (option, name) in [
            ("key-file", "munge/key"),
            ("socket", "munge/socket"),
            ("pid-file", "munge/pid"),
            ("log-file", "munge/log"),
            ("seed-file", "munge/seed"),
        ] {
            munged.arg(format!("--{option}={folder}/{name}"));
        }
        succeed(&mut munged);
        let host = Command::new("hostname").arg("-s").output().unwrap().stdout;
        let host = String::from_utf8(host).unwrap().trim().to_owned();
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let user = String::from_utf8(user).unwrap().trim().to_owned();
        write(slurm.folder.path(), "slurm.conf", configuration(&folder, (&host, &user), port));
        let node = ["-N", &host].map(str::to_owned);
        for (daemon, words) in [("slurmctld", &[][..]), ("slurmd", &node[..])] {
            let mut command = Command::new(format!("/usr/sbin/{daemon}"));
            succeed(command.arg("-f").arg(slurm.path("slurm.conf")).args(words));
        }
        slurm
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.path("slurm.conf"));
        command
    }

    fn queue(&self) -> String {
        let told = self.command("squeue").args(["-h", "-o", "%i %j %T %r"]).output().unwrap();
        String::from_utf8_lossy(&told.stdout).into_owned()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let _ = self.command("scontrol").arg("shutdown").status();
        if let Ok(pid) = std::fs::read_to_string(self.path("munge/pid")) {
            let _ = Command::new("kill").arg(pid.trim()).status();
        }
        // The daemons write until they have ended.
        std::thread::sleep(Duration::from_secs(2));
    }
}

fn configuration(folder: &str, (host, user): (&str, &str), port: u16) -> String {
    let node_port = port + 1;
    format!(
        "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={port}\nSlurmdPort={node_port}\n\
         AuthType=auth/munge\nAuthInfo=socket={folder}/munge/socket\nCredType=cred/munge\n\
         SlurmUser={user}\nSlurmdUser={user}\n\
         StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool\n\
         SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/slurmd.pid\n\
         SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/slurmd.log\n\
         ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSelectType=select/cons_tres\n\
         SelectTypeParameters=CR_Core\nSchedulerType=sched/builtin\n\
         JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
         MpiDefault=none\nReturnToService=2\nSwitchType=switch/none\nMinJobAge=3600\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN\n\
         PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP\n\
         SlurmdParameters=config_overrides\n"
    )
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {output:?}");
}

/// Kills a shard that runs, if there is one that was not killed yet.
fn kill_a_shard(out: &Path, killed: &[String]) -> Option<String> {
    let pattern = format!("--out {}/shard-", out.display());
    let told = Command::new("pgrep").args(["-af", "--", &pattern]).output().unwrap();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let shard_of = |line: &str| -> Option<(String, String)> {
        let (process, words) = line.split_once(' ')?;
        let shard = words.split_once(&pattern)?.1.split(' ').next()?;
        let is_shard = words.contains("vkcert certify");
        is_shard.then(|| (process.to_owned(), shard.to_owned()))
    };
    let (process, shard) =
        told.lines().filter_map(shard_of).find(|(_, shard)| !killed.contains(shard))?;
    let is_killed = Command::new("kill").args(["-9", &process]).status().unwrap().success();
    is_killed.then_some(shard)
}

#[test]
#[ignore = "starts Slurm, and takes minutes"]
fn shards_that_slurm_starts_again_come_to_the_whole_run() {
    let slurm = Slurm::start(16_817);
    let [project, out, whole] = ["project", "out", "whole"].map(|name| slurm.path(name));
    write_project(&project, 160);
    let mut script = vkcert();
    script.args(["pipeline", "slurm"]).arg(&project).args(["--shards", "16", "--cpus", "1"]);
    script.arg("--out").arg(&out).args(["--", "--engine", "sequential"]);
    let script = run(&mut script, 0).stdout;
    write(slurm.folder.path(), "job.sh", script);
    let programs = Path::new(env!("CARGO_BIN_EXE_vkcert")).parent().unwrap();
    let search_path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut submit = slurm.command("sh");
    succeed(submit.arg(slurm.path("job.sh")).env("PATH", search_path).stdin(Stdio::null()));
    let start = Instant::now();
    let mut killed: Vec<String> = Vec::new();
    while !slurm.queue().is_empty() {
        let queue = slurm.queue();
        let is_stuck = queue.contains("held") || queue.contains("NeverSatisfied");
        assert!(!is_stuck && start.elapsed() < Duration::from_secs(400), "{queue}");
        if killed.len() < 2 {
            killed.extend(kill_a_shard(&out, &killed));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(killed.len(), 2, "{killed:?}");
    let merged = std::fs::read_to_string(out.join("merge.log"));
    assert!(out.join("merged/evidence").exists(), "{merged:?}");
    run(
        vkcert().arg("certify").arg(&project).args(["--engine", "sequential", "--out"]).arg(&whole),
        0,
    );
    assert_same_results(&whole, &out.join("merged"));
}
