use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(vkcert::exec::vulkan::WORKER_COMMAND) {
        return vkcert::exec::vulkan::worker_main().into();
    }
    ExitCode::SUCCESS
}
