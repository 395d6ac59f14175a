"""A machine's disk: ext4 in a file, mounted by a loop device. Its power can be cut, and it can be filled.

A power cut is the file system's own shutdown (the ioctl of the kernel's crash tests): what was not written to the
device is gone at one instant, and the next mount recovers from the device. A copy of the backing file would not be
of one instant.
"""

import fcntl
import os
import struct
import subprocess

import processes

MIB = 1 << 20
FS_IOC_SHUTDOWN = 0x8004587D
WITHOUT_LOG_FLUSH = 2


class Disk:
    """The disk of one machine."""

    def __init__(self, directory, name, mib):
        self.image, self.path = directory / f"{name}.ext4", directory / name
        self.path.mkdir()
        self.was_filled = False
        with open(self.image, "wb") as file:
            file.truncate(mib * MIB)
        self.make_file_system()

    def make_file_system(self):
        subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", self.image], check=True)
        self.mount()

    def make_anew(self):
        """Another disk in its place: empty."""
        self.unmount()
        self.make_file_system()

    def mount(self):
        subprocess.run(["mount", "-o", "loop", self.image, self.path], check=True)

    def unmount(self):
        """Unmounts once the last process has let go of it."""
        done = lambda: subprocess.run(["umount", self.path], capture_output=True).returncode == 0  # noqa: E731
        processes.wait_for(f"end of the use of {self.path}", done)

    def lose_power(self):
        """From here on nothing reaches the device, and what has not reached it is lost."""
        handle = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, FS_IOC_SHUTDOWN, struct.pack("I", WITHOUT_LOG_FLUSH))
        finally:
            os.close(handle)

    def restore_power(self):
        self.unmount()
        self.mount()

    def fill(self):
        """Takes all free space."""
        self.was_filled = True
        subprocess.run(["fallocate", "-l", str(self.free_bytes()), self.path / "filler"], capture_output=True)
        with open(self.path / "filler", "ab", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass

    def free(self):
        (self.path / "filler").unlink(missing_ok=True)

    def free_bytes(self):
        found = os.statvfs(self.path)
        return found.f_bavail * found.f_frsize

    def remove(self):
        self.unmount()
        self.image.unlink()
