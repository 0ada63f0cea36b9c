# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make run            the main job in a lab of namespaces, with a table at the end
#   make run IFACE=eth0 CONFIG=/etc/quakeshield.conf     protect a real interface
#   make run SERVER=standin, PROTOCOL=quake2 ...         another server in the lab
#   make test           every test that needs no virtual machine (check: without deps)
#   make quick          unit and kernel tests alone (TESTS=GLOB chooses, here and in test)
#   make attack         what attackers did, or would, and the figures that must be kept
#   make mutants        small breakages that the tests must notice (tests/MUTANTS)
#   make docs           docs/reference/ and the rows of the manual that the code's tables know
#   make coverage       the lines and branches that unit tests run, file by file
#   make vmtest         the kernels of vmtests/KERNELS (KERNEL=..., VM=vng|qemu)
#   make bench          ns per packet, as ratios to the floor and to peers
#   make scale          ns per packet on several processors at once, and their efficiency
#   make figures        measures what README cites, and draws its pictures
#   make experiment     a game over a good and a poor line, and its lagometer, in build/experiment/
#   make fuzz           FUZZ_TIME=60 seconds or FUZZ_RUNS=10000000 inputs a target
#   make deb            the Debian package, in build/deb/, without root (make deps-deb once)
#   make debtest        the package on a Debian 12 of its own: install, upgrade, reboot, purge
#   make dist           a tarball with the program and its installer, in build/
#   make lint format-check install uninstall clean
#   V=1 shows commands; O=dir builds elsewhere; SKIP_DEPS=1 never calls apt

PROG		:= quakeshield
VERSION		:= $(shell cat include/version 2>/dev/null || echo 0.1.0)
O		?= build

PREFIX		?= /usr/local
SBINDIR		?= $(PREFIX)/sbin
MANDIR		?= $(PREFIX)/share/man
SYSCONFDIR	?= /etc
UNITDIR		?= $(PREFIX)/lib/systemd/system
DESTDIR		?=

CC		?= cc
CLANG		?= clang
AR		?= ar
BPFTOOL		?= $(or $(wildcard /usr/sbin/bpftool),bpftool)
PKG_CONFIG	?= pkg-config
INSTALL		?= install
CFLAGS		?= -O2 -g
# After CFLAGS, so that its other flags (-Werror) hold: what costs the least time to build and
# to run together.
TEST_CFLAGS	?= -O0 -g1
SAN_CFLAGS	?= -O1 -g1
HEADER_CFLAGS	?= -O1 -g1
# Empty: no compiler cache.
ifeq ($(origin CCACHE),undefined)
CCACHE		:= $(if $(findstring ccache,$(CC) $(CLANG)),,$(shell \
		   t=$$(mktemp) && ccache $(CC) -c -x c -o $$t /dev/null >/dev/null 2>&1 && \
		   echo ccache; rm -f $$t))
endif
# Tests and lab tools are linked in a third of the time by a linker that has it; asked at the
# first use. Empty: the compiler's own.
ifeq ($(origin TEST_LD),undefined)
links_with	= $(shell t=$$(mktemp); echo 'int main(void) { return 0; }' | \
		  $(CC) -fuse-ld=$1 -x c - -o $$t 2>/dev/null && echo -fuse-ld=$1; rm -f $$t)
TEST_LD		= $(eval TEST_LD := $(or $(call links_with,lld),$(call links_with,gold)))$(TEST_LD)
endif
FUZZ_TIME	?= 30
CAPTURES	?= $(abspath $(wildcard ../shared/captures))
export CAPTURES TESTS

# What the code needs is kept apart from what a packager may want.
PKGS		:= libbpf libpcap libconfuse libmicrohttpd jansson libsystemd \
		   libcap-ng libseccomp libcrypto ncursesw zlib minizip
# Asked at the first use, and once.
PKG_CFLAGS	= $(eval PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS	= $(eval PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS)))$(PKG_LIBS)
WARNINGS	:= -Wall -Wextra -Wshadow -Wundef -Wvla -Wwrite-strings \
		   -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
# The same objects are linked to the program and to the library of the tests.
HARDEN		:= -fstack-protector-strong -fPIC -fno-semantic-interposition
CPPFLAGS_ALL	= -D_GNU_SOURCE -DVERSION='"$(VERSION)"' -Iinclude -Iuser -I$(O) \
		  -MMD -MP $(CPPFLAGS)
CFLAGS_ALL	= -std=gnu11 $(WARNINGS) $(HARDEN) $(PKG_CFLAGS) $(CFLAGS)
LDFLAGS_ALL	= -pie -Wl,-z,relro,-z,now $(LDFLAGS)
LDLIBS_ALL	= $(PKG_LIBS) -lm $(LDLIBS)
SANITIZE	:= -fsanitize=address,undefined -fno-sanitize-recover=all \
		   -fno-omit-frame-pointer

# -idirafter: multiarch hides asm/types.h from -target bpf.
BPF_CFLAGS	?= -O2 -g
BPF_CFLAGS_ALL	= -target bpf -mcpu=v3 -std=gnu11 -Wall -Wextra -Wshadow -Iinclude \
		  -Ibpf -MMD -MP $(BPF_CFLAGS) \
		  -idirafter /usr/include/$(shell $(CC) -print-multiarch)

# user/ and tests/ are rooms, at most two deep: a new file or folder needs no edit here.
deep		= $(sort $(foreach under,* */* */*/*,$(wildcard $1/$(under)$2)))
USER_SRC	:= $(call deep,user,.c)
USER_OBJ	:= $(USER_SRC:%.c=$(O)/%.o)
# Everything but main(): what the tests and fuzzers link, built sanitised.
LIB_SRC		:= $(filter-out user/main.c,$(USER_SRC))
SAN_OBJ		:= $(LIB_SRC:%.c=$(O)/san/%.o)
FUZZ_OBJ	:= $(LIB_SRC:%.c=$(O)/fuzz/%.o)
BPF_SRC		:= $(sort $(wildcard bpf/*.bpf.c))
SKEL		:= $(patsubst bpf/%.bpf.c,$(O)/%.skel.h,$(BPF_SRC))

# test_*.c are pure and sanitised; kern_*.c need CAP_BPF and are what vmtests carries
# into its guests; net_*.sh build network namespaces.
tests_named	= $(foreach file,$(call deep,tests,$2),$(if $(filter $1,$(notdir $(file))),$(file)))
UNIT_BIN	:= $(patsubst %.c,$(O)/%,$(call tests_named,test_%,.c))
KERN_BIN	:= $(patsubst %.c,$(O)/%,$(call tests_named,kern_%,.c))
FUZZ_BIN	:= $(patsubst %.c,$(O)/%,$(call tests_named,fuzz_%,.c))
TOOL_BIN	:= $(patsubst tests/lab/%.c,$(O)/lab/%,$(filter-out %.bpf.c tests/lab/test_%, \
		   $(sort $(wildcard tests/lab/*.c))))

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n' '$(1)' '$(patsubst $(O)/%,%,$@)'
endif

all: $(O)/$(PROG)

$(O)/$(PROG): $(USER_OBJ)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(LDLIBS_ALL)

$(O)/user/%.o: user/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -c -o $@ $<

$(O)/san/user/%.o: user/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(SAN_CFLAGS) $(SANITIZE) -c -o $@ $<

$(O)/fuzz/user/%.o: user/%.c
	$(call say,CLANG)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CLANG) $(CPPFLAGS_ALL) $(FUZZ_CPPFLAGS) $(CFLAGS_ALL) $(SANITIZE) $(FUZZ_COVER) \
		-c -o $@ $<

# What these compare never stands in the input as bytes: watching it, and all that the
# sanitizers compare in them, costs a third of the speed and teaches nothing. The values
# of Quake III's bit streams are noted instead.
FUZZ_COVER	= -fsanitize=fuzzer-no-link
FUZZ_BLIND	:= decode/q3/% decode/decode decode/delta decode/session capture/reassembly \
		   lib/huffman% lib/jsonl% lib/record lib/record_json
$(FUZZ_BLIND:%=$(O)/fuzz/user/%.o): FUZZ_COVER = \
		-fsanitize-coverage=inline-8bit-counters,indirect-calls,pc-table
$(O)/fuzz/user/decode/q3/%.o: FUZZ_CPPFLAGS = -include tests/fuzz/q3/q3_trace.h

# The files that carry the shield's programs wait for the skeletons, and no others do.
SKEL_OBJ	:= $(patsubst %.c,%.o,$(shell grep -l '\.skel\.h"' $(USER_SRC)))
$(foreach in,$(O) $(O)/san $(O)/fuzz,$(addprefix $(in)/,$(SKEL_OBJ))): | $(SKEL)

# .incbin leaves no trace in the .d files.
$(O)/user/daemon/page.o $(O)/san/user/daemon/page.o $(O)/fuzz/user/daemon/page.o: \
	user/daemon/page.html user/daemon/page.js

# Tests and lab tools share one library: a changed file links none of them anew. A function
# that a test defines itself replaces the library's for calls from other files. Programs find
# the library relative to themselves, so that a copy of the build directory runs its own.
$(O)/san/libuser.so: $(SAN_OBJ)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS_ALL) $(SANITIZE) $(LDFLAGS) -shared -Wl,-soname,libuser.so -o $@ $^ \
		$(LDLIBS_ALL)

$(O)/libuser.so: $(filter-out $(O)/user/main.o,$(USER_OBJ))
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS) -shared -Wl,-soname,libuser.so -o $@ $^ $(LDLIBS_ALL)

# $(call shared,DIRECTORY): the library there, and where the target will find it.
shared		= $1/libuser.so '-Wl,-rpath,$$ORIGIN/$(shell realpath -m --relative-to=$(@D) $1)'

$(O)/fuzz/libuser.a: $(FUZZ_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/%.skel.h: $(O)/bpf/%.bpf.o
	$(call say,SKEL)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

$(O)/bpf/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CLANG) $(BPF_CFLAGS_ALL) -c -o $@ $<

$(O)/san/tests/%.o: tests/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(SAN_CFLAGS) $(SANITIZE) -c -o $@ $<

# What these test is in headers, and runs for seconds.
$(filter $(O)/tests/include/%,$(UNIT_BIN)): private TEST_CFLAGS = $(HEADER_CFLAGS)
$(UNIT_BIN): $(O)/tests/%: tests/%.c | $(O)/san/libuser.so $(O)/san/tests/sanitize.o
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) $(TEST_CFLAGS) $(SANITIZE) \
		-MF $@.d -MT $@ -c -o $@.o $<
	$(Q)$(CC) $(CFLAGS_ALL) $(TEST_CFLAGS) $(SANITIZE) $(TEST_LD) -o $@ $@.o \
		$(O)/san/tests/sanitize.o $(call shared,$(O)/san) $(LDLIBS_ALL) -lcmocka

all-fresh: $(UNIT_BIN)

kern-fresh: $(KERN_BIN) $(filter $(O)/tests/include/%,$(UNIT_BIN))

# Not sanitised: these run inside guests whose libraries are copied by name.
$(KERN_BIN) $(O)/tests/kern/verdicts: $(O)/tests/%: tests/%.c | $(O)/libuser.so
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) $(TEST_CFLAGS) \
		-MF $@.d -MT $@ -c -o $@.o $<
	$(Q)$(CC) $(CFLAGS_ALL) $(TEST_CFLAGS) $(TEST_LD) -o $@ $@.o $(call shared,$(O)) \
		$(LDLIBS_ALL) -lcmocka

# With this, `make quick` loads stubs of the programs that a test does not run.
$(O)/lab/stubs.so: tests/stubs.c
	$(call say,LAB)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS) -fPIC -shared -MF $@.d -o $@ $<

$(O)/lab/%: tests/lab/%.c | $(O)/libuser.so
	$(call say,LAB)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) -MF $@.d -MT $@ -c -o $@.o $<
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(TEST_LD) -o $@ $@.o $(call shared,$(O)) $(LDLIBS_ALL)

$(O)/tests/lab/%.bpf.o: tests/lab/%.bpf.c
	$(call say,BPF)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CLANG) $(BPF_CFLAGS_ALL) -c -o $@ $<

$(O)/lab/%.skel.h: $(O)/tests/lab/%.bpf.o
	$(call say,SKEL)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

$(O)/lab/floodgen: $(O)/lab/floodgen.skel.h

$(O)/tests/bench/%.bpf.o: tests/bench/%.bpf.c
	$(call say,BPF)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CLANG) $(BPF_CFLAGS_ALL) -c -o $@ $<

$(O)/bench/%.skel.h: $(O)/tests/bench/%.bpf.o
	$(call say,SKEL)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

BENCH_SKEL	:= $(O)/bench/bench.skel.h $(O)/bench/scale.skel.h

$(O)/tests/kern/kern_scale: $(O)/bench/scale.skel.h

$(O)/bench/bench $(O)/bench/scale: $(O)/bench/%: tests/bench/%.c $(O)/bench/%.skel.h \
		$(filter-out $(O)/user/main.o,$(USER_OBJ))
	$(call say,BENCH)
	$(Q)$(CC) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) -MF $@.d -o $@ \
		$< $(filter %.o,$^) $(LDLIBS_ALL)

# The target itself is not watched: its mutator would be for half of the time. What those in
# include/ try is all in headers.
$(filter $(O)/tests/fuzz/include/%,$(FUZZ_BIN)): private FUZZ_WATCH = -fsanitize=fuzzer-no-link
$(FUZZ_BIN): $(O)/tests/%: tests/%.c $(O)/fuzz/libuser.a
	$(call say,FUZZ)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) $(SANITIZE) $(FUZZ_WATCH) \
		-MF $@.d -MT $@ -c -o $@.o $<
	$(Q)$(CLANG) $(CFLAGS_ALL) $(SANITIZE) -fsanitize=fuzzer -o $@ $@.o \
		$(O)/fuzz/libuser.a $(LDLIBS_ALL)

$(O)/tests/fuzz/seeds: tests/fuzz/seeds.c $(O)/fuzz/libuser.a
	$(call say,CLANG)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) $(SANITIZE) -MF $@.d -o $@ $< \
		-Wl,--wrap=q3_decode_message,--wrap=huffman_adaptive_decode \
		-Wl,--wrap=nq_decode,--wrap=qw_message_decode,--wrap=q2_message \
		$(O)/fuzz/libuser.a $(LDLIBS_ALL)

$(O)/tests/fuzz/dict: tests/fuzz/dict.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) -MF $@.d -o $@ $<

$(O)/tests/fuzz/wire.dict: $(O)/tests/fuzz/dict
	$(Q)$< > $@

fuzz: $(FUZZ_BIN) $(O)/tests/fuzz/wire.dict $(O)/tests/fuzz/seeds
	$(Q)BUILD=$(O) FUZZ_RUNS=$(FUZZ_RUNS) FUZZ_TIME=$(FUZZ_TIME) CORPUS=$(CORPUS) \
		tests/fuzz/run.sh $(FUZZ_BIN)

# Packages. A fresh machine needs only make, and root or none of this.
deps:
	$(Q)tests/deps.sh build run

deps-test deps-lint deps-bench deps-vm deps-deb deps-debtest: deps-%:
	$(Q)tests/deps.sh build run $*

# deps may install the compiler: everything after it is another make.
lab: all $(TOOL_BIN) $(patsubst %,$(O)/tests/lab/%.bpf.o,foreign control room)

run: deps
	$(Q)$(MAKE) --no-print-directory $(side_by_side) lab
ifdef IFACE
	$(Q)exec $(O)/$(PROG) run -i $(IFACE) \
		-c $(or $(CONFIG),$(wildcard $(SYSCONFDIR)/quakeshield.conf),docs/example.conf)
else
	$(Q)$(if $(filter openarena,$(SERVER)),tests/deps.sh openarena)
	$(Q)BUILD=$(O) tests/lab/lab.sh
endif

# As many at once as there are processors, unless -j says another number.
side_by_side	= $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

test: deps-test
	$(Q)$(MAKE) --no-print-directory $(side_by_side) check

# Of test programs and scripts, those that TESTS= chooses: no others are built.
chosen		= $(if $(TESTS),$(shell for test in $1; do \
		  case "$${test##*/}" in ($(TESTS)) echo "$$test";; esac; done),$1)
BIN_CHOSEN	= $(call chosen,$(UNIT_BIN) $(KERN_BIN))
SH_CHOSEN	= $(call chosen,$(call tests_named,test_%,.sh))

check: lab $(BIN_CHOSEN)
	$(Q)BUILD=$(O) tests/run.sh $(BIN_CHOSEN) $(SH_CHOSEN) \
		$(call chosen,$(call tests_named,net_%,.sh))

# Each within half a minute or so, and alone: TESTS=GLOB chooses.
attack: deps-test
	$(Q)$(MAKE) --no-print-directory lab
	$(Q)BUILD=$(O) tests/run.sh $(call tests_named,attack_%,.sh)

# What is worth its time after every change: no namespaces, no real servers.
quick:
	$(Q)$(MAKE) --no-print-directory $(side_by_side) quick-check

quick-check: $(if $(SH_CHOSEN),all $(O)/lab/reference) $(O)/lab/stubs.so $(BIN_CHOSEN)
	$(Q)TEST_QUICK=1 BUILD=$(O) tests/run.sh $(BIN_CHOSEN) $(SH_CHOSEN)

# Breakages on purpose: ONLY=GLOB of files, COUNT=N of them at random, SEED=, MINUTES=N,
# LIST=FILE of others. CHECK=1: only whether the lines still fit the code. FRESH=N: so many
# drawn from user/ at random.
mutants: $(if $(FRESH)$(CHECK),,all)
ifdef FRESH
	$(Q)tests/fresh.py --count $(FRESH) $(if $(SEED),--seed $(SEED)) \
		$(if $(MINUTES),--minutes $(MINUTES)) $(if $(SURVIVE),--survive $(SURVIVE)) $(ONLY)
else
	$(Q)BUILD=$(O) LIST='$(LIST)' ONLY='$(ONLY)' COUNT='$(COUNT)' SEED='$(SEED)' MINUTES='$(MINUTES)' \
		SURVIVE='$(SURVIVE)' CHECK='$(CHECK)' tests/mutants.sh
endif

# docs/reference/ and the names in docs/RECORDS.md, from the code: tests/test_docs.sh and
# tests/test_records.sh hold the committed pages to it.
docs: $(O)/lab/reference
	$(Q)BUILD=$(O) tests/reference.sh --write
	$(Q)tests/record_names.sh --write

# Not sanitised, for the sanitizers bring branches of their own.
coverage:
	$(Q)$(MAKE) --no-print-directory O=$(O)/coverage CC=$(CLANG) SANITIZE= \
		TEST_CFLAGS= SAN_CFLAGS= HEADER_CFLAGS= CFLAGS='-O0 -g -fprofile-instr-generate -fcoverage-mapping' coverage-run

coverage-run: $(UNIT_BIN)
	$(Q)BUILD=$(O) tests/coverage.sh $(UNIT_BIN)

# The same binaries for every kernel. KERNEL= and VM= choose, see vmtests/run.sh.
vmtest: deps-vm
	$(Q)$(MAKE) --no-print-directory $(side_by_side) lab $(KERN_BIN)
	$(Q)BUILD=$(O) KERNEL='$(KERNEL)' VM='$(VM)' V='$(V)' vmtests/run.sh

# These files are installed as they stand; uninstall takes the same names away.
SHARE		= $(DESTDIR)$(PREFIX)/share
DOCS		:= README.md LICENSE \
		   $(filter-out docs/HACKING.md docs/RELEASING.md,$(wildcard docs/*.md)) \
		   docs/example.conf
PAGES		:= $(wildcard docs/*/*.md docs/reference/schema/*.json docs/pictures/*)
EXAMPLES	:= $(wildcard docs/examples/*.sh docs/examples/*.yml docs/examples/Containerfile)
UNITS		:= $(PROG).service $(PROG)-attack.service $(PROG)-attack.path
RULES		:= docs/alerts.yml docs/grafana-dashboard.json
INSTALLED	= $(DESTDIR)$(SBINDIR)/$(PROG) \
		  $(DESTDIR)$(MANDIR)/man8/$(PROG).8 \
		  $(DESTDIR)$(MANDIR)/man5/$(PROG).conf.5 \
		  $(addprefix $(DESTDIR)$(UNITDIR)/,$(UNITS)) \
		  $(SHARE)/bash-completion/completions/$(PROG) \
		  $(SHARE)/zsh/site-functions/_$(PROG) \
		  $(SHARE)/fish/vendor_completions.d/$(PROG).fish \
		  $(addprefix $(SHARE)/doc/$(PROG)/,$(notdir $(DOCS))) \
		  $(EXAMPLES:docs/%=$(SHARE)/doc/$(PROG)/%) \
		  $(PAGES:docs/%=$(SHARE)/doc/$(PROG)/%) \
		  $(addprefix $(SHARE)/$(PROG)/,$(notdir $(RULES)))

# The configuration to begin with.
CONF		= sed 's|/usr/local/share|$(PREFIX)/share|' docs/$(PROG).conf

$(O)/completion.%: $(O)/$(PROG)
	$(Q)$< completion $* >$@

install: all $(O)/completion.bash $(O)/completion.zsh $(O)/completion.fish
	$(INSTALL) -D -m 755 $(O)/$(PROG) $(DESTDIR)$(SBINDIR)/$(PROG)
	$(INSTALL) -D -m 644 docs/$(PROG).8 $(DESTDIR)$(MANDIR)/man8/$(PROG).8
	$(INSTALL) -D -m 644 docs/$(PROG).conf.5 $(DESTDIR)$(MANDIR)/man5/$(PROG).conf.5
	$(INSTALL) -D -m 644 $(O)/completion.bash $(SHARE)/bash-completion/completions/$(PROG)
	$(INSTALL) -D -m 644 $(O)/completion.zsh $(SHARE)/zsh/site-functions/_$(PROG)
	$(INSTALL) -D -m 644 $(O)/completion.fish \
		$(SHARE)/fish/vendor_completions.d/$(PROG).fish
	$(INSTALL) -d $(SHARE)/doc/$(PROG)/examples $(SHARE)/$(PROG)
	$(INSTALL) -m 644 $(DOCS) $(SHARE)/doc/$(PROG)
	sed 's|(docs/|(|g' README.md >$(SHARE)/doc/$(PROG)/README.md
	for page in $(PAGES:docs/%=%); do \
		$(INSTALL) -D -m 644 docs/$$page $(SHARE)/doc/$(PROG)/$$page || exit 1; \
	done
	$(INSTALL) -m 644 $(RULES) $(SHARE)/$(PROG)
	$(INSTALL) -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSCONFDIR)
	for unit in $(UNITS); do \
		sed 's|@SBINDIR@|$(SBINDIR)|; s|@SYSCONFDIR@|$(SYSCONFDIR)|' docs/$$unit \
			>$(DESTDIR)$(UNITDIR)/$$unit && \
		chmod 644 $(DESTDIR)$(UNITDIR)/$$unit || exit 1; \
	done
	$(INSTALL) -m 755 $(filter %.sh,$(EXAMPLES)) $(SHARE)/doc/$(PROG)/examples
	$(INSTALL) -m 644 $(filter-out %.sh,$(EXAMPLES)) $(SHARE)/doc/$(PROG)/examples
	test -e $(DESTDIR)$(SYSCONFDIR)/$(PROG).conf || { \
		$(CONF) >$(DESTDIR)$(SYSCONFDIR)/$(PROG).conf && \
		chmod 644 $(DESTDIR)$(SYSCONFDIR)/$(PROG).conf; }

# A configuration that somebody has changed is not ours to remove.
uninstall:
	rm -f $(INSTALLED)
	-rmdir $(SHARE)/doc/$(PROG)/reference/schema $(addprefix $(SHARE)/doc/$(PROG)/,examples \
		$(sort $(foreach page,$(PAGES),$(word 2,$(subst /, ,$(page)))))) \
		$(SHARE)/doc/$(PROG) $(SHARE)/$(PROG)
	$(CONF) | cmp -s - $(DESTDIR)$(SYSCONFDIR)/$(PROG).conf && \
		rm $(DESTDIR)$(SYSCONFDIR)/$(PROG).conf || \
		{ test ! -e $(DESTDIR)$(SYSCONFDIR)/$(PROG).conf || \
		echo 'kept: $(DESTDIR)$(SYSCONFDIR)/$(PROG).conf'; }
	@test ! -d $(DESTDIR)/var/lib/$(PROG) || \
		echo 'kept: $(DESTDIR)/var/lib/$(PROG) (attacks, history, addresses of clients)'

# --- packages: what `make install` installs, for machines without a compiler

deb: deps-deb
	$(Q)debian/build.sh $(O)/deb

# The download needs the network, which the test's world does not have.
debtest: deps-deb deps-debtest
	$(Q)$(MAKE) --no-print-directory $(side_by_side) lab
	$(Q)tests/deb/root.sh $(O)/deb
	$(Q)BUILD=$(O) tests/run.sh $(call tests_named,deb_%,.sh)

# A program, the files of `make install`, and the libraries that it needs, each with its package.
DIST		= $(PROG)-$(VERSION)-linux-$(shell uname -m)
dist: all
	$(Q)rm -rf $(O)/dist
	$(Q)$(MAKE) --no-print-directory -s install DESTDIR=$(abspath $(O)/dist/$(DIST)/files)
	$(Q)strip $(O)/dist/$(DIST)/files$(SBINDIR)/$(PROG)
	$(Q)cp LICENSE README.md docs/install.sh $(O)/dist/$(DIST)
	$(Q)readelf -d $(O)/$(PROG) | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | \
	while read -r library; do \
		echo "$$library $$(dpkg-query -S "*/$(shell $(CC) -print-multiarch)/$$library" 2>/dev/null | sed 's/:.*//; q')"; \
	done >$(O)/dist/$(DIST)/libraries
	$(Q)tar -C $(O)/dist --sort=name --owner=0 --group=0 --numeric-owner \
		-czf $(O)/$(DIST).tar.gz $(DIST)
	$(Q)echo $(O)/$(DIST).tar.gz

C_ALL		= $(foreach under,include bpf user tests vmtests,$(call deep,$(under),.[ch]))
C_LINT		= $(filter-out %.bpf.c,$(filter %.c,$(C_ALL)))
SH_ALL		= .ci/run $(call deep,tests,.sh) $(call deep,vmtests,.sh) $(wildcard docs/*.sh debian/*.sh \
		  debian/*.p*inst debian/*.p*rm debian/tests/*[!l])

format-check:
	$(Q)clang-format --dry-run -Werror $(C_ALL)

# A file is checked again if it changes or a header that it includes does, a script if it or
# one that others source does.
LINT_OK		= $(patsubst %,$(O)/lint/%.ok,$(C_LINT) $(SH_ALL))
LINT_ALL	:= lint-comments lint-fuzz lint-mutants lint-prose lint-twins

# Suppressed: other people's headers; a right shift of a negative number, which both
# our compilers define. LINT_WORDS: cppcheck takes minutes over the true definitions, and
# clang-tidy six seconds for each file.
LINT_CPP	= -D_GNU_SOURCE -DVERSION=__FILE__ -Iinclude -Iuser -Itests
LINT_WORDS	= '-DWORD_PART(s, n)=(unsigned long long)(sizeof(s) + (n))' \
		  '-DWORD_LAST(s)=(unsigned long long)sizeof(s)'
CPPCHECK_FLAGS	= -q --std=c11 --enable=warning,portability,performance --inline-suppr \
		  --error-exitcode=1 --suppress='*:/usr/include/*' --suppress='*:$(O)/*' \
		  --suppress=shiftTooManyBitsSigned \
		  '-DLIBBPF_OPTS(type, name, ...)=struct type name = { __VA_ARGS__ }'
# What is generated counts as a system header.
TIDY_FLAGS	= -std=gnu11 -isystem $(O) $(WARNINGS) -Wno-missing-field-initializers \
		  -Wno-initializer-overrides $(PKG_CFLAGS)
# In tests the analyzer cannot know that a failed assertion of cmocka ends the test. The
# sanitizers run every path of a test, so a shallow walk of its paths is enough: the deep one
# takes nine tenths of the time.
TIDY_TESTS	= --checks=-clang-analyzer-core.*
TIDY_SHALLOW	= -Xclang -analyzer-config -Xclang mode=shallow

lint:
	$(Q)$(MAKE) --no-print-directory -k $(side_by_side) lint-all

lint-all: $(LINT_OK) $(LINT_ALL)

# What clang-tidy does not check is explained in .clang-tidy.
$(O)/lint/%.c.ok: %.c .clang-tidy | $(SKEL) $(O)/lab/floodgen.skel.h $(BENCH_SKEL)
	$(call say,LINT)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(LINT_CPP) $(TIDY_FLAGS) -MM -MP -MF $@.d -MT $@ $<
	$(Q)cppcheck $(CPPCHECK_FLAGS) $(LINT_CPP) $(LINT_WORDS) $<
	$(Q)clang-tidy --quiet $(if $(filter tests/%,$<),$(TIDY_TESTS)) $< -- \
		$(LINT_CPP) $(LINT_WORDS) $(TIDY_FLAGS) \
		$(if $(filter tests/%,$<),$(TIDY_SHALLOW)) 2>/dev/null
	$(Q)touch $@

SH_SOURCED	= .shellcheckrc $(shell grep -L '^\#!' $(SH_ALL))
$(O)/lint/%.ok: % $(SH_SOURCED)
	$(call say,LINT)
	$(Q)mkdir -p $(@D)
	$(Q)shellcheck $<
	$(Q)touch $@

lint-comments:
	$(Q)tests/lint_comments.sh

lint-mutants:
	$(Q)CHECK=1 tests/mutants.sh

lint-prose:
	$(Q)tests/prose_lint.py

lint-twins:
	$(Q)tests/twins.py

# Fuzzers and measurements are built by nothing else that has to pass: their warnings count here.
lint-fuzz: $(O)/lab/floodgen.skel.h $(BENCH_SKEL)
	$(Q)$(CLANG) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) -Werror -fsyntax-only -MF /dev/null \
		$(filter tests/fuzz/% tests/bench/%,$(C_LINT))

BENCH_BIN	= $(O)/bench/bench $(O)/lab/floodgen $(O)/tests/bench/drop.bpf.o $(O)/tests/bench/floor.bpf.o

bench: deps-bench
	$(Q)$(MAKE) --no-print-directory all $(BENCH_BIN)
	$(Q)$(O)/bench/bench
	$(Q)BUILD=$(O) tests/bench/veth.sh

# A minute. SCALE= has its options: `make scale SCALE='--processors 1,8 --only players'`.
scale:
	$(Q)$(MAKE) --no-print-directory $(O)/bench/scale
	$(Q)$(O)/bench/scale $(SCALE)

# The figures and the pictures of README, and the page that they stand in: ten minutes.
figures: deps-test deps-bench
	$(Q)$(MAKE) --no-print-directory $(side_by_side) lab $(BENCH_BIN)
	$(Q)BUILD=$(O) tests/bench/figures.sh

experiment: deps-test
	$(Q)$(MAKE) --no-print-directory lab
	$(Q)mkdir -p $(O)/experiment
	$(Q)BUILD=$(O) tests/lab/experiment.sh $(O)/experiment

clean:
	rm -rf $(O)

.PHONY: all attack bench coverage coverage-run docs experiment figures fuzz lab quick quick-check mutants \
	deb debtest dist deps deps-test deps-lint deps-bench deps-vm deps-deb deps-debtest \
	run scale test check install uninstall \
	format-check lint lint-all $(LINT_ALL) clean
.DELETE_ON_ERROR:
.SECONDARY:

-include $(shell find $(O) -name '*.d' -type f 2>/dev/null)
