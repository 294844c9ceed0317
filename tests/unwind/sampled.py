# sampled.py - gdb runs it (relinked.sh). It compares the backtraces that leakwrap takes for sampled
# allocations with gdb's. At the end it prints "sampled: SAMPLES FRAMES DIFFERENT STATUS".
#
# At a sampled call of a wrapped function gdb walks the stack. Then it changes the call: the same
# caller asks for a huge block, then calls leakwrap_dump with min_bytes=, so that the dump shows
# only
# the huge block's call site. Then the caller calls the function that frees the huge block, and last
# the first function with the program's own arguments. The script needs to know nothing of
# leakwrap's
# inside. (gdb's own calls of functions would leave frames on the stack, and save more registers
# than
# every ptrace can.)
import os
import re

import gdb

HUGE = 1 << 30  # what min_bytes= must let through
SAMPLES = 70
FUNCTIONS = {  # the index of the size argument, and the function that frees the block
    "__wrap_malloc": (0, "__wrap_free"),
    "__wrap_calloc": (1, "__wrap_free"),
    "__wrap_realloc": (1, None),
    "__wrap__Znwm": (0, "__wrap__ZdlPvm"),
}


class Sampler(gdb.Breakpoint):
    """Stops at ever rarer calls of one function, so that samples reach into runs of any length."""

    def __init__(self, function):
        super().__init__("*" + function, internal=True)
        self.function = function
        self.calls = 0
        self.next = 1

    def stop(self):
        self.calls += 1
        if self.calls < self.next:
            return False
        self.next += 1 + self.calls // 12
        return True


def frames_by_gdb():
    """The return addresses of the frames that really are there, behind the innermost one. In
    gcc's frame_dummy, which has no table, gdb takes a small number for one."""
    pcs = []
    frame = gdb.newest_frame().older()
    while frame:
        if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME) and frame.pc() >= 4096:
            pcs.append(frame.pc())
        frame = frame.older()
    return pcs


def frames_by_dump(log):
    """Kind and return addresses of each call site in the dump."""
    sites = []
    with open(log) as lines:
        for line in lines:
            site = re.search(r"\] site .* blocks?, (\w+)", line)
            frame = re.search(r"\]   #\d+ (0x[0-9a-f]+) ", line)
            if site:
                sites.append((site.group(1), []))
            elif frame:
                sites[-1][1].append(int(frame.group(1), 16))
    return sites


def register(name):
    return int(gdb.parse_and_eval("(unsigned long)$" + name))


def set_register(name, value):
    gdb.execute("set $%s = %s" % (name, value))
    gdb.newest_frame().select()  # gdb would search its selected frame, and may find another frame


def call_from_here(function, arguments):
    """Lets the caller, to which the last call has just returned, call FUNCTION."""
    back, sp = register("rip"), register("rsp") - 8
    gdb.execute("set {unsigned long}%d = %d" % (sp, back))
    set_register("rsp", sp)
    set_register("rip", "(unsigned long)&" + function)
    finish(arguments)


def finish(arguments):
    """Changes the arguments and runs the function from its first instruction to its end."""
    for name, value in zip(("rdi", "rsi"), arguments):
        set_register(name, value)
    stop = gdb.Breakpoint("*{unsigned long}$rsp", internal=True)
    stop.thread = gdb.selected_thread().global_num
    stop.condition = "$rsp == %d" % (register("rsp") + 8)
    gdb.execute("continue", to_string=True)
    stop.delete()


def take_sample(log):
    """How many frames there are, 0 when leakwrap does not agree."""
    function = gdb.newest_frame().name()
    size_at, give_back = FUNCTIONS[function]
    expected = frames_by_gdb()
    asked = [register("rdi"), register("rsi")]
    huge = [asked[0] if function == "__wrap_realloc" else 1] * size_at + [HUGE]
    finish(huge)
    block = register("rax")
    open(log, "w").close()
    call_from_here("leakwrap_dump", [2**64 - 1])
    if give_back:
        call_from_here(give_back, [block, HUGE])
        call_from_here(function, asked)
    else:
        call_from_here(function, [block, asked[1]])

    got = frames_by_dump(log)
    if got == [("complete", expected)]:
        return len(expected)
    print("differs: %s" % function)
    print("gdb:      %s" % " ".join("%x" % pc for pc in expected))
    for kind, pcs in got:
        print("leakwrap: %s (%s)" % (" ".join("%x" % pc for pc in pcs), kind))
    return 0


def enable(samplers, enabled):
    for sampler in samplers:
        sampler.enabled = enabled


def main():
    log = os.environ["SAMPLED_LOG"]
    for setting in ("confirm off", "pagination off", "debuginfod enabled off",
                    "print thread-events off", "backtrace past-main on",
                    "backtrace past-entry on", "print inferior-events off"):
        gdb.execute("set " + setting)
    samplers = [Sampler(function) for function in FUNCTIONS if gdb.lookup_global_symbol(function)]
    samples = frames = differ = 0
    gdb.execute("run", to_string=True)
    while gdb.selected_inferior().pid and samples < SAMPLES:
        enable(samplers, False)
        depth = take_sample(log)
        enable(samplers, True)
        samples += 1
        frames += depth
        differ += depth == 0
        gdb.execute("continue", to_string=True)
    enable(samplers, False)
    if gdb.selected_inferior().pid:
        gdb.execute("continue", to_string=True)
    print("sampled: %d %d %d %s" % (samples, frames, differ, gdb.convenience_variable("_exitcode")))


main()
