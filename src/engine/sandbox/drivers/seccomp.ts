// A filter of system calls as the kernel takes it (seccomp(2), classic BPF), so that no native package is needed.
import { findProgram, needProgram, run } from '../host.js';

/** Numbers of system calls, asm/unistd.h. */
interface Architecture {
  /** AUDIT_ARCH_* of linux/audit.h. */
  audit: number;
  clone: number;
  ioctl: number;
  socket: number;
  socketpair: number;
  prctl: number;
  fallocate: number;
  mount: number;
  denied: number[];
}

// Of one number on both, because they are newer than the tables were joined: io_uring 425–427, open_tree 428,
// move_mount 429, fsopen 430, fsconfig 431, fsmount 432, fspick 433, pidfd_getfd 438, mount_setattr 442, quotactl_fd 443,
// memfd_secret 447, open_tree_attr 467.
const NEW = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 443, 447, 467];
const CLONE3 = 435;

const ARCHITECTURES: Record<string, Architecture> = {
  x64: {
    audit: 0xc000_003e,
    clone: 56,
    ioctl: 16,
    socket: 41,
    socketpair: 53,
    prctl: 157,
    fallocate: 285,
    mount: 165,
    denied: [
      ...[101, 103, 134, 153, 154, 155, 161, 163, 164, 165, 166, 167, 168, 169], // ptrace … mount family … reboot
      ...[170, 171, 172, 173, 174, 175, 176, 179, 180, 212, 227, 246, 248, 249, 250], // host name, modules, kexec, keys
      ...[256, 272, 279, 298, 300, 303, 304, 305, 308, 310, 311, 312, 313, 320, 321, 323], // unshare, perf, setns, bpf …
      ...NEW,
    ],
  },
  arm64: {
    audit: 0xc000_00b7,
    clone: 220,
    ioctl: 29,
    socket: 198,
    socketpair: 199,
    prctl: 167,
    fallocate: 47,
    mount: 40,
    denied: [
      ...[18, 39, 40, 41, 51, 58, 60, 89, 97, 104, 105, 106, 112, 116, 117, 142, 161, 162, 170],
      ...[217, 218, 219, 224, 225, 238, 239, 241, 262, 264, 265, 266, 268, 270, 271, 272, 273, 280, 282, 294],
      ...NEW,
    ],
  },
};

/** Number of mount(2) on this machine; undefined where the table has no such machine. */
export const MOUNT = ARCHITECTURES[process.arch]?.mount;

// linux/bpf_common.h: BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, …|BPF_JGE|…, …|BPF_JSET|…, BPF_RET|BPF_K.
const [LOAD, JEQ, JGE, JSET, RETURN] = [0x20, 0x15, 0x35, 0x45, 0x06];
// Offsets in struct seccomp_data; the low half of an argument comes first on both machines.
const [NUMBER, ARCH, ARGUMENT_0, ARGUMENT_1] = [0, 4, 16, 24];
const [ALLOW, KILL, ERRNO] = [0x7fff_0000, 0x8000_0000, 0x0005_0000];
const [EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT] = [1, 38, 95, 97];
// Also x32 calls, which are the same ones under other numbers.
const X32 = 0x4000_0000;
// Every CLONE_NEW* flag. clone3(2) hides its flags behind a pointer: it is absent, so libc falls back to clone(2).
const NAMESPACES = 0x7e02_0000;
// AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: they belong to a network namespace or to a folder. Of the others AF_VSOCK, which
// virtual machines talk to their host by, belongs to the machine in whatever namespace, and few are ever used.
const FAMILIES = [1, 2, 10, 16];
// What takes space without writing it (linux/falloc.h, linux/fs.h): FS_IOC_RESVSP, FS_IOC_RESVSP64, FS_IOC_ZERO_RANGE, which are
// fallocate(2) by another way, and FS_IOC_FSSETXATTR, whose hint for extents makes one byte take gigabytes. Programs that hear "not
// supported" write instead (posix_fallocate(3)): one call took 300 MB in no time, while a write takes a second for so much.
const RESERVING = [0x4030_5828, 0x4030_582a, 0x4030_5839, 0x401c_5820];
// They type into a terminal of somebody else's.
const [TIOCSTI, TIOCLINUX] = [0x5412, 0x541c];

/** The filter for this machine, null where we have none. */
export function seccompFilter(architecture: string = process.arch): Buffer | null {
  const machine = ARCHITECTURES[architecture];
  if (machine === undefined) return null;
  const { audit, clone, ioctl, socket, socketpair, fallocate, denied } = machine;
  const refused = [op(RETURN, ERRNO + EPERM)];
  const unsupported = [op(RETURN, ERRNO + EOPNOTSUPP)];
  const family = [
    op(LOAD, ARGUMENT_0),
    ...FAMILIES.flatMap((number) => unless(JEQ, number, [op(RETURN, ALLOW)])),
    op(RETURN, ERRNO + EAFNOSUPPORT),
  ];
  return Buffer.concat([
    op(LOAD, ARCH),
    op(JEQ, audit, 1, 0),
    op(RETURN, KILL),
    op(LOAD, NUMBER),
    ...unless(JGE, X32, refused),
    ...unless(JEQ, CLONE3, [op(RETURN, ERRNO + ENOSYS)]),
    ...denied.flatMap((number) => unless(JEQ, number, refused)),
    ...unless(JEQ, socket, family),
    ...unless(JEQ, socketpair, family),
    ...unless(JEQ, clone, [op(LOAD, ARGUMENT_0), ...unless(JSET, NAMESPACES, refused), op(RETURN, ALLOW)]),
    ...unless(JEQ, fallocate, unsupported),
    ...unless(JEQ, ioctl, [
      op(LOAD, ARGUMENT_1),
      ...unless(JEQ, TIOCSTI, refused),
      ...unless(JEQ, TIOCLINUX, refused),
      ...RESERVING.flatMap((request) => unless(JEQ, request, unsupported)),
      op(RETURN, ALLOW),
    ]),
    op(RETURN, ALLOW),
  ]);
}

/**
 * The beginning of a command line that loads the filter and starts what follows, tried once; null where nothing here can.
 * util-linux has no program for it, and perl-base is part of every Debian. It needs
 * no_new_privs, which `setpriv` sets before it.
 */
export async function seccompLoader(filter: Buffer | null): Promise<string[] | null> {
  const perl = findProgram('perl');
  const prctl = ARCHITECTURES[process.arch]?.prctl;
  if (filter === null || perl === null || prctl === undefined) return null;
  // prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, struct sock_fprog: a count of 16 bits, a pointer).
  const load = `syscall(${prctl}, 22, 2, $program) == 0 or die "no filter of system calls: $!\\n"`;
  const code = `$filter = pack("H*", shift); $program = pack("S x![P] P", length($filter) / 8, $filter); ${load}; exec @ARGV`;
  const loader = [perl, '-e', code, filter.toString('hex')];
  const trial = ['--no-new-privs', '--', ...loader, '/bin/sh', '-c', ':'];
  return run(needProgram('setpriv', 'util-linux'), trial, { env: {} }).then(
    () => loader,
    () => null,
  );
}

/** What the report of a driver says of the filter. `loaded`: what `/proc/self/status` says inside. */
export function seccompReport(given: boolean, loaded: string | undefined): { active: string[]; missing: string[] } {
  if (given && loaded === '2') return { active: [FILTERED], missing: [] };
  const reason =
    seccompFilter() === null
      ? `there is none for ${process.arch}`
      : 'there is no perl to load it, or the kernel takes none';
  return { active: [], missing: [`No filter of system calls (${reason}): ${UNFILTERED}`] };
}

const FILTERED =
  'A filter of system calls (seccomp): sockets of UNIX, INET, INET6 and NETLINK only, no keyrings of the kernel, no tracing, no space that is taken unwritten.';
const UNFILTERED =
  "commands reach the host's AF_VSOCK sockets, and read each other's keys in the session keyring of the kernel, which they share, one call of fallocate(2) takes a disk's free space at once, and a command of a run may trace what starts the others.";

/** Runs `body` when the test holds, else jumps over it. */
function unless(test: number, value: number, body: Buffer[]): Buffer[] {
  return [op(test, value, 0, body.length), ...body];
}

/** struct sock_filter: code, jump if true, jump if false, operand. */
function op(code: number, operand: number, ifTrue = 0, ifFalse = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(operand >>> 0, 4);
  return bytes;
}
