//! `vkcert pipeline slurm`: a script that hands the shards of a campaign and their merge to Slurm.
//!
//! Promises: what the script says of folders and options is quoted for the shell. A shard that is
//! killed or preempted is started again and goes on where it was, by a cache that the shards share.
//! Does not cover: what a cluster is like: partitions, accounts and modules are its users' to add.

use super::args::{Pipeline, PipelineForm, Slurm};
use super::failure::Failure;
use super::output;
use crate::model::exit::Exit;
use crate::report::shell_word;
use std::path::Path;

/// How often a shard that was killed is started again.
const MOST_RESTARTS: u32 = 5;

/// Prints the script.
pub(super) fn print_pipeline(pipeline: &Pipeline) -> Result<Exit, Failure> {
    let script = match &pipeline.form {
        PipelineForm::Slurm(slurm) => slurm_script(slurm),
    };
    output::print_text(&script)?;
    Ok(Exit::Success)
}

fn word(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// A word for the shell that may begin with `-`.
fn option_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn slurm_script(slurm: &Slurm) -> String {
    let Slurm { dir, shards, out, gres, cpus, sbatch, certify } = slurm;
    let (project, out) = (word(dir), word(out));
    let options: String =
        certify.iter().map(|option| format!(" {}", option_word(option))).collect();
    let mut resources = format!("--cpus-per-task={cpus}");
    if let Some(gres) = gres {
        resources.push_str(&format!(" --gres={}", option_word(gres)));
    }
    for option in sbatch {
        resources.push_str(&format!(" {}", option_word(option)));
    }
    format!(
        r#"#!/bin/sh
# Hands a campaign to Slurm: {shards} shards as an array of jobs, then their merge.
# Prints the number of the job that merges. Made by `vkcert pipeline slurm`.
set -eu
unset CDPATH
project={project}
out={out}
mkdir -p "$out"
# Jobs may start in another folder.
project=$(cd "$project" && pwd)
out=$(cd "$out" && pwd)
export project out

array=$(sbatch --parsable --export=ALL --job-name=vkcert --array=1-{shards} --requeue --open-mode=append \
    --output="$out/shard-%a.log" {resources} <<'SHARD'
#!/bin/sh
vkcert certify "$project" --shard "$SLURM_ARRAY_TASK_ID/{shards}" --out "$out/shard-$SLURM_ARRAY_TASK_ID" \
    --cache "$out/cache" --jobs "$SLURM_CPUS_PER_TASK"{options}
status=$?
# What was killed goes on where it was.
if [ "$status" -gt 128 ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {MOST_RESTARTS} ]; then
    scontrol requeue "$SLURM_JOB_ID"
    sleep 60
fi
# Tests that do not pass are told by the merge.
[ "$status" -eq 1 ] && exit 0
exit "$status"
SHARD
)

sbatch --parsable --export=ALL --job-name=vkcert-merge --dependency="afterok:$array" --kill-on-invalid-dep=yes \
    --requeue --output="$out/merge.log" --cpus-per-task={cpus} <<'MERGE'
#!/bin/sh
set --
number=1
while [ "$number" -le {shards} ]; do
    set -- "$@" "$out/shard-$number"
    number=$((number + 1))
done
exec vkcert merge "$@" --out "$out/merged" --project "$project"
MERGE
"#
    )
}
