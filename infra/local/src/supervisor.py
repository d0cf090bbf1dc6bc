"""Runs one command, and ends it with everything it has spawned as soon as we are no longer needed.

Its standard input is a pipe whose other end only `local` holds. However `local` ends - exit, panic, SIGKILL - the
kernel closes that end, and this process, which nobody was aiming at, still runs to clean up behind it.

    python3 supervisor.py SCRATCH COMMAND...      SCRATCH: a directory to remove at the end, or "-"
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
import time


PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def prctl(option, value):
    # There is no such call but on Linux; elsewhere we go without what it adds.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value)


def die_with_parent():
    # For the one case that the pipe cannot cover: this process itself is killed.
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def reap():
    # Orphans came to us, so that not even their entries in the process table stay behind.
    patience = time.monotonic() + 2
    while time.monotonic() < patience:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.005)
        except ChildProcessError:
            return


def main(scratch, command):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda caught, _: sys.exit(128 + caught))
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    # A session of its own: its group is what will be killed, and Ctrl-C in the terminal does not reach it before us.
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=die_with_parent)

    def end():
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:
            pass  # the group is gone already

    def watch():
        os.read(0, 1)  # unbuffered: a buffered reader blocked in a thread makes the interpreter's exit fail
        end()

    threading.Thread(target=watch, daemon=True).start()
    try:
        code = child.wait()
    finally:
        # The command may have ended by itself and left children behind.
        end()
        child.wait()
        reap()
        if scratch != "-":
            shutil.rmtree(scratch, ignore_errors=True)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    except FileNotFoundError as error:
        sys.exit(f"cannot start {error.filename}: {error.strerror}")
