#!/usr/bin/env bash
# Checks what building and running vkcert need, and installs what is missing.
#
#   tools/setup.sh         for building and running
#   tools/setup.sh test    for the test suite as well
#   tools/setup.sh test soak   for `make soak` as well
#   tools/setup.sh dissimilar   for `make dissimilar` as well
#   tools/setup.sh --check [test] [soak] [dissimilar]   only says what is missing (exit 1 if anything is)
#
# On Debian and Ubuntu missing system packages are installed with apt, as root or by sudo without a password. Where that
# is not allowed, the exact command is printed and the script stops with exit 1. Rust itself is never installed.
# Runs in a fraction of a second when nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

install=yes
tests=no
soak=no
dissimilar=no
for argument in "$@"; do
    case "$argument" in
        --check) install=no ;;
        test) tests=yes ;;
        soak) soak=yes ;;
        dissimilar) dissimilar=yes ;;
        *) echo "setup: unknown argument: $argument" >&2; exit 2 ;;
    esac
done

has_command() { command -v "$1" >/dev/null 2>&1; }

# Whether any of these files exists (arguments are already expanded patterns).
has_file() {
    local file
    for file in "$@"; do [ -e "$file" ] && return 0; done
    return 1
}

has_vulkan_loader() {
    { PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null || true; } | grep 'libvulkan\.so\.1' >/dev/null
}

missing=()
need() { # package, then the command that tells whether it is there
    local package=$1
    shift
    "$@" || missing+=("$package")
}

check_packages() {
    missing=()
    # The shader compiler is built from source.
    need cmake has_command cmake
    need ninja-build has_command ninja
    need g++ has_command c++
    need python3 has_command python3
    need git has_command git
    # A Vulkan device in software, its loader, and the layers that watch every call.
    need libvulkan1 has_vulkan_loader
    need mesa-vulkan-drivers has_file {/usr/share,/usr/local/share,/etc}/vulkan/icd.d/lvp_icd*.json
    need vulkan-validationlayers has_file {/usr/share,/usr/local/share,/etc}/vulkan/explicit_layer.d/*alidation*.json
    if [ "$tests" = yes ]; then
        need poppler-utils has_command pdftotext
        # Reads archives as another program would.
        need zstd has_command zstd
        # Clicks through the HTML report.
        need chromium has_command chromium
        # Reads headers of host programs, with the compiler's own headers.
        # Not `libclang-cpp.so`, which another package has.
        need libclang1-19 has_file /usr/lib/llvm-*/lib/libclang{-[0-9]*,}.so.*
        need libclang-common-19-dev has_file /usr/lib/llvm-*/lib/clang/*/include/stdint.h
        # Host programs that are captured.
        need libvulkan-dev has_file {/usr/include,/usr/local/include}/vulkan/vulkan.h
    fi
    if [ "$soak" = yes ]; then
        # A queue of jobs on this machine, started by the tests in folders of their own.
        need slurm-wlm has_file /usr/sbin/slurmctld
        need munge has_file /usr/sbin/munged
    fi
    if [ "$dissimilar" = yes ]; then
        # The compiler that measures kernels as C++ programs, its coverage tools and its runtime.
        need clang-19 has_command clang++-19
        need llvm-19 has_command llvm-cov-19
        need libclang-rt-19-dev has_file /usr/lib/llvm-19/lib/clang/19/lib/*/libclang_rt.profile*.a
    fi
}

check_rust() {
    if ! has_command cargo || ! has_command rustc; then
        echo "setup: Rust is missing. Install it with:" >&2
        echo "    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh" >&2
        exit 1
    fi
    local wanted found
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    found=$(rustc --version | sed 's/^rustc \([0-9.]*\).*/\1/')
    if [ "$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n 1)" != "$wanted" ]; then
        echo "setup: rustc $found is too old, $wanted or later is needed. Update it with:" >&2
        echo "    rustup update stable" >&2
        exit 1
    fi
    if [ "$tests" = yes ]; then
        local component
        for component in fmt clippy; do
            if ! cargo "$component" --version >/dev/null 2>&1; then
                echo "setup: cargo $component is missing. Install it with:" >&2
                echo "    rustup component add rustfmt clippy" >&2
                exit 1
            fi
        done
    fi
}

install_packages() {
    # What is there already stays as it is: only what is missing is installed.
    local command="apt-get install -y --no-install-recommends --no-upgrade ${missing[*]}"
    if ! has_command apt-get; then
        echo "setup: missing (Debian package names): ${missing[*]}" >&2
        echo "setup: this is no Debian or Ubuntu system; install them with your package manager and run this again." >&2
        exit 1
    fi
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if has_command sudo && sudo -n true 2>/dev/null; then
            as_root=(sudo -n)
        else
            echo "setup: system packages are missing, and installing them needs root. Run:" >&2
            echo "    sudo apt-get update && sudo $command" >&2
            exit 1
        fi
    fi
    echo "setup: installing ${missing[*]}"
    # Told only where something fails. An update that fails for one source (a stale third-party list) need not stop the
    # installation.
    local log
    log=$(mktemp)
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq >"$log" 2>&1 || true
    # shellcheck disable=SC2086 # the command is a list of words
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive $command >>"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "setup: apt could not install everything. The command was:" >&2
        echo "    $command" >&2
        exit 1
    fi
    rm -f "$log"
}

check_packages
if [ "${#missing[@]}" -gt 0 ]; then
    if [ "$install" = no ]; then
        echo "setup: missing: ${missing[*]}"
        exit 1
    fi
    install_packages
    check_packages
    if [ "${#missing[@]}" -gt 0 ]; then
        echo "setup: installed, but still not found: ${missing[*]}" >&2
        exit 1
    fi
fi
check_rust
