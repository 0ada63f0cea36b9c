/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cache_refresh_days.h - the days of test_cache_refresh_life.c, and what happens on each.
 * Times are in ms, of the clock there: 400 for a reply, 600 until a question is asked
 * again, after three in vain 15000, and 4000 until what was learnt is asked for anew.
 */
#ifndef CACHE_REFRESH_DAYS_H
#define CACHE_REFRESH_DAYS_H

/* Both reply; and the one that is pressed is asked no more often than before. */
static void both_reply(void **state)
{
	(void)state;
	replies[0] = replies[1] = true;
	assert_int_equal(start(NULL), 0);
	pass(7 * SECOND);
	happened("  socket 0 at 127.83.81.1\n"
		 "  socket 1 at 127.83.81.2\n"
		 "  socket 2 at 127.83.81.3\n"
		 "  socket 3 at 127.83.81.4\n"
		 "  socket 4 at 127.83.81.5\n"
		 "  socket 5 at 127.83.81.6\n"
		 "  socket 6 at 127.83.81.7\n"
		 "  socket 7 at 127.83.81.8\n"
		 "  socket 8 at 127.0.0.1\n"
		 "  read (default)/known-clients.txt\n"
		 "+1000 #0 127.0.0.1:27960 getinfo abcdefghi\n"
		 "+1000 #0 198.51.100.7:27910 info 34\n"
		 "+1250 #1 127.0.0.1:27960 getstatus qrstuvwxy\n"
		 "+1500 #2 127.0.0.1:27960 getinfo\n"
		 "+1500 #1 198.51.100.7:27910 info 35\n"
		 "  slot 5 form 2: 74 bytes of +1500\n"
		 "+1750 #3 127.0.0.1:27960 getstatus\n"
		 "  slot 5 form 3: 76 bytes of +1750\n"
		 "+2000 #4 127.0.0.1:27960 getinfo WXYZ0123456789ababcdefghijklmnop\n"
		 "+2000 #2 198.51.100.7:27910 info 36\n"
		 "  slot 5 form 0: 74 bytes of +2000\n"
		 "+2250 #5 127.0.0.1:27960 getstatus abcdefghijklmnopqrstuvwxyzABCDEF\n"
		 "  slot 5 form 1: 76 bytes of +2250\n"
		 "+2500 #3 198.51.100.7:27910 status\n"
		 "  slot 9 form 3: 67 bytes of +2500\n"
		 "+2750 #4 198.51.100.7:27910 ping\n"
		 "+3250 #5 198.51.100.7:27910 info 34\n"
		 "+3750 #6 198.51.100.7:27910 info 35\n"
		 "+4250 #7 198.51.100.7:27910 info 36\n"
		 "+4750 #0 198.51.100.7:27910 ping\n"
		 "+5250 #1 198.51.100.7:27910 info 34\n"
		 "+5500 #6 127.0.0.1:27960 getinfo\n"
		 "  slot 5 form 2: 74 bytes of +5500\n"
		 "+5750 #7 127.0.0.1:27960 getstatus\n"
		 "+5750 #2 198.51.100.7:27910 info 35\n"
		 "  slot 5 form 3: 76 bytes of +5750\n"
		 "+6000 #0 127.0.0.1:27960 getinfo 456789aba\n"
		 "  slot 5 form 0: 74 bytes of +6000\n"
		 "+6250 #1 127.0.0.1:27960 getstatus GHIJKLMNO\n"
		 "+6250 #3 198.51.100.7:27910 info 36\n"
		 "  slot 5 form 1: 76 bytes of +6250\n"
		 "+6750 #4 198.51.100.7:27910 ping\n",
		 "");
	pressed[5] = true;
	pass(5 * SECOND);
	happened("+7250 #5 198.51.100.7:27910 status\n"
		 "  slot 9 form 3: 67 bytes of +7250\n"
		 "+9550 #2 127.0.0.1:27960 getinfo\n"
		 "  slot 5 form 2: 74 bytes of +9550\n"
		 "+9750 #3 127.0.0.1:27960 getstatus\n"
		 "  slot 5 form 3: 76 bytes of +9750\n"
		 "+10000 #4 127.0.0.1:27960 getinfo qrstuvwxyzABCDEFGHIJKLMNOPQRSTUV\n"
		 "  slot 5 form 0: 74 bytes of +10000\n"
		 "+10250 #5 127.0.0.1:27960 getstatus 456789ababcdefghijklmnopqrstuvwx\n"
		 "  slot 5 form 1: 76 bytes of +10250\n"
		 "+11250 #6 198.51.100.7:27910 status\n"
		 "  slot 9 form 3: 67 bytes of +11250\n",
		 "");
	stop();
	happened("  closed 0\n"
		 "  closed 1\n"
		 "  closed 2\n"
		 "  closed 3\n"
		 "  closed 4\n"
		 "  closed 5\n"
		 "  closed 6\n"
		 "  closed 7\n  closed 8\n",
		 "");
}

/* One falls silent: it is asked ever more seldom, and told of when it has been long. */
static void nobody_replies(void **state)
{
	(void)state;
	assert_int_equal(start("/pins"), 0);
	pass(20 * SECOND);
	happened("  socket 0 at 127.83.81.1\n"
		 "  socket 1 at 127.83.81.2\n"
		 "  socket 2 at 127.83.81.3\n"
		 "  socket 3 at 127.83.81.4\n"
		 "  socket 4 at 127.83.81.5\n"
		 "  socket 5 at 127.83.81.6\n"
		 "  socket 6 at 127.83.81.7\n"
		 "  socket 7 at 127.83.81.8\n"
		 "  socket 8 at 127.0.0.1\n"
		 "  read /pins/known-clients.txt\n"
		 "+1000 #0 127.0.0.1:27960 getinfo abcdefghi\n"
		 "+1000 #0 198.51.100.7:27910 info 34\n"
		 "+1500 #1 127.0.0.1:27960 getstatus qrstuvwxy\n"
		 "+1500 #1 198.51.100.7:27910 info 35\n"
		 "+2000 #2 127.0.0.1:27960 getinfo\n"
		 "+2000 #2 198.51.100.7:27910 info 36\n"
		 "+2500 #3 127.0.0.1:27960 getstatus\n"
		 "+2500 #3 198.51.100.7:27910 status\n"
		 "+3000 #4 127.0.0.1:27960 getinfo abcdefghi\n"
		 "+3000 #4 198.51.100.7:27910 ping\n"
		 "+3500 #5 127.0.0.1:27960 getstatus qrstuvwxy\n"
		 "+3500 #5 198.51.100.7:27910 info 34\n"
		 "+4000 #6 127.0.0.1:27960 getinfo\n"
		 "+4000 #6 198.51.100.7:27910 info 35\n"
		 "+4500 #7 127.0.0.1:27960 getstatus\n"
		 "+4500 #7 198.51.100.7:27910 info 36\n"
		 "+5000 #0 127.0.0.1:27960 getinfo abcdefghi\n"
		 "+5000 #0 198.51.100.7:27910 status\n"
		 "+5500 #8 127.0.0.1:27960 getstatus qrstuvwxy\n"
		 "+5500 #8 198.51.100.7:27910 ping\n"
		 "+6000 #2 127.0.0.1:27960 getinfo\n"
		 "+6000 #2 198.51.100.7:27910 info 34\n"
		 "+6500 #8 127.0.0.1:27960 getstatus\n"
		 "+6500 #8 198.51.100.7:27910 info 35\n"
		 "+7000 #4 198.51.100.7:27910 info 36\n"
		 "+7500 #8 198.51.100.7:27910 status\n"
		 "+8000 #6 198.51.100.7:27910 ping\n"
		 "+20000 #4 127.0.0.1:27960 getinfo 456789aba\n",
		 "");
	pass(44 * SECOND);
	happened("+20500 #8 127.0.0.1:27960 getstatus GHIJKLMNO\n"
		 "+21000 #6 127.0.0.1:27960 getinfo\n"
		 "+21000 #8 198.51.100.7:27910 info 34\n"
		 "+21500 #8 127.0.0.1:27960 getstatus\n"
		 "+21500 #0 198.51.100.7:27910 info 35\n"
		 "+22000 #8 198.51.100.7:27910 info 36\n"
		 "+22500 #2 198.51.100.7:27910 status\n"
		 "+23000 #8 198.51.100.7:27910 ping\n"
		 "+35000 #0 127.0.0.1:27960 getinfo GHIJKLMNO\n"
		 "+35500 #8 127.0.0.1:27960 getstatus ijklmnopq\n"
		 "+36000 #2 127.0.0.1:27960 getinfo\n"
		 "+36000 #4 198.51.100.7:27910 info 34\n"
		 "+36500 #8 127.0.0.1:27960 getstatus\n"
		 "+36500 #8 198.51.100.7:27910 info 35\n"
		 "+37000 #6 198.51.100.7:27910 info 36\n"
		 "+37500 #8 198.51.100.7:27910 status\n"
		 "+38000 #0 198.51.100.7:27910 ping\n"
		 "+50000 #4 127.0.0.1:27960 getinfo ijklmnopq\n"
		 "+50500 #8 127.0.0.1:27960 getstatus WXYZ01234\n"
		 "+51000 #6 127.0.0.1:27960 getinfo\n"
		 "+51000 #8 198.51.100.7:27910 info 34\n"
		 "+51500 #8 127.0.0.1:27960 getstatus\n"
		 "+51500 #2 198.51.100.7:27910 info 35\n"
		 "+52000 #8 198.51.100.7:27910 info 36\n"
		 "+52500 #4 198.51.100.7:27910 status\n"
		 "+53000 #8 198.51.100.7:27910 ping\n",
		 "quakeshield: warning: service 'arena': its server does not reply at "
		 "127.0.0.1, port 27960, so nothing is answered for it; unless it is "
		 "down, write the `address` that it is bound to (none if to all), or "
		 "`cache = off`\n"
		 "quakeshield: warning: service 'base': its server does not reply at "
		 "198.51.100.7, port 27910, so nothing is answered for it; unless it "
		 "is down, write the `address` that it is bound to (none if to all), "
		 "or `cache = off`\n");
	pass(20 * SECOND);
	replies[0] = true;
	pass(20 * SECOND);
	happened("+66510 #0 127.0.0.1:27960 getinfo WXYZ01234\n"
		 "+68000 #6 198.51.100.7:27910 info 34\n"
		 "+81520 #8 127.0.0.1:27960 getstatus abcdefghi\n"
		 "+83000 #8 198.51.100.7:27910 info 35\n"
		 "+96530 #2 127.0.0.1:27960 getinfo\n"
		 "  slot 5 form 2: 74 bytes of +96530\n"
		 "+96780 #3 127.0.0.1:27960 getstatus\n"
		 "  slot 5 form 3: 76 bytes of +96780\n"
		 "+97000 #4 127.0.0.1:27960 getinfo GHIJKLMNO\n"
		 "+97280 #5 127.0.0.1:27960 getstatus ijklmnopq\n"
		 "+97780 #6 127.0.0.1:27960 getinfo WXYZ0123456789ababcdefghijklmnop\n"
		 "  slot 5 form 0: 74 bytes of +97780\n"
		 "+98000 #7 127.0.0.1:27960 getstatus yzABCDEFGHIJKLMNOPQRSTUVWXYZ0123\n"
		 "+98000 #0 198.51.100.7:27910 info 36\n"
		 "  slot 5 form 1: 76 bytes of +98000\n"
		 "+100540 #0 127.0.0.1:27960 getinfo\n"
		 "  slot 5 form 2: 74 bytes of +100540\n"
		 "+100790 #1 127.0.0.1:27960 getstatus\n"
		 "  slot 5 form 3: 76 bytes of +100790\n"
		 "+101790 #2 127.0.0.1:27960 getinfo 456789aba\n"
		 "  slot 5 form 0: 74 bytes of +101790\n"
		 "+102000 #3 127.0.0.1:27960 getstatus GHIJKLMNO\n"
		 "  slot 5 form 1: 76 bytes of +102000\n",
		 "quakeshield: service 'arena': its server replies now\n");
	pressed[9] = true;
	pass(10 * SECOND);
	happened("+104550 #4 127.0.0.1:27960 getinfo\n"
		 "+104550 #8 198.51.100.7:27910 status\n"
		 "  slot 5 form 2: 74 bytes of +104550\n"
		 "+104850 #5 127.0.0.1:27960 getstatus\n"
		 "  slot 5 form 3: 76 bytes of +104850\n"
		 "+105850 #6 127.0.0.1:27960 getinfo abcdefghijklmnopqrstuvwxyzABCDEF\n"
		 "  slot 5 form 0: 74 bytes of +105850\n"
		 "+106050 #7 127.0.0.1:27960 getstatus "
		 "OPQRSTUVWXYZ0123456789ababcdefgh\n"
		 "  slot 5 form 1: 76 bytes of +106050\n"
		 "+108550 #0 127.0.0.1:27960 getinfo\n"
		 "+108550 #2 198.51.100.7:27910 ping\n"
		 "  slot 5 form 2: 74 bytes of +108550\n"
		 "+108850 #1 127.0.0.1:27960 getstatus\n"
		 "  slot 5 form 3: 76 bytes of +108850\n"
		 "+109850 #2 127.0.0.1:27960 getinfo ijklmnopq\n"
		 "  slot 5 form 0: 74 bytes of +109850\n"
		 "+110050 #3 127.0.0.1:27960 getstatus WXYZ01234\n"
		 "  slot 5 form 1: 76 bytes of +110050\n"
		 "+112550 #4 127.0.0.1:27960 getinfo\n"
		 "+112550 #8 198.51.100.7:27910 info 34\n"
		 "  slot 5 form 2: 74 bytes of +112550\n"
		 "+112850 #5 127.0.0.1:27960 getstatus\n"
		 "  slot 5 form 3: 76 bytes of +112850\n"
		 "+113850 #6 127.0.0.1:27960 getinfo qrstuvwxyzABCDEFGHIJKLMNOPQRSTUV\n"
		 "  slot 5 form 0: 74 bytes of +113850\n",
		 "");
	stop();
}

/* Who is always answered is asked as if it were pressed. */
static void always_is_as_pressed(void **state)
{
	(void)state;
	config.services[0].service.cache = CACHE_ALWAYS;
	config.services[1].service.observe = 1;
	assert_int_equal(start(NULL), 0);
	pass(10 * SECOND);
	happened("  socket 0 at 127.83.81.1\n"
		 "  socket 1 at 127.83.81.2\n"
		 "  socket 2 at 127.83.81.3\n"
		 "  socket 3 at 127.83.81.4\n"
		 "  socket 4 at 127.83.81.5\n"
		 "  socket 5 at 127.83.81.6\n"
		 "  socket 6 at 127.83.81.7\n"
		 "  socket 7 at 127.83.81.8\n"
		 "  socket 8 at 127.0.0.1\n"
		 "  read (default)/known-clients.txt\n"
		 "+1000 #0 127.0.0.1:27960 getinfo abcdefghi\n"
		 "+1400 #1 127.0.0.1:27960 getstatus OPQRSTUVW\n"
		 "+1800 #2 127.0.0.1:27960 getinfo\n"
		 "+2200 #3 127.0.0.1:27960 getstatus\n"
		 "+2600 #4 127.0.0.1:27960 getinfo GHIJKLMNO\n"
		 "+3000 #5 127.0.0.1:27960 getstatus ijklmnopq\n"
		 "+3400 #6 127.0.0.1:27960 getinfo\n"
		 "+3800 #7 127.0.0.1:27960 getstatus\n"
		 "+4200 #0 127.0.0.1:27960 getinfo abcdefghi\n"
		 "+4600 #8 127.0.0.1:27960 getstatus OPQRSTUVW\n"
		 "+5000 #2 127.0.0.1:27960 getinfo\n"
		 "+5400 #8 127.0.0.1:27960 getstatus\n"
		 "+8200 #4 127.0.0.1:27960 getinfo GHIJKLMNO\n"
		 "+8600 #8 127.0.0.1:27960 getstatus ijklmnopq\n"
		 "+9000 #6 127.0.0.1:27960 getinfo\n"
		 "+9400 #8 127.0.0.1:27960 getstatus\n",
		 "");
	stop();
}

/* What cannot be sent is asked for again, as what gets lost. */
static void what_cannot_be_sent(void **state)
{
	(void)state;
	drops = true;
	config.services[1].service.cache = CACHE_OFF;
	assert_int_equal(start(NULL), 0);
	pass(4 * SECOND);
	happened("  socket 0 at 127.83.81.1\n"
		 "  socket 1 at 127.83.81.2\n"
		 "  socket 2 at 127.83.81.3\n"
		 "  socket 3 at 127.83.81.4\n"
		 "  socket 4 at 127.83.81.5\n"
		 "  socket 5 at 127.83.81.6\n"
		 "  socket 6 at 127.83.81.7\n"
		 "  socket 7 at 127.83.81.8\n"
		 "  socket 8 at 127.0.0.1\n"
		 "  read (default)/known-clients.txt\n"
		 "+1000 #0 127.0.0.1:27960 getinfo abcdefghi\n"
		 "+1250 #1 127.0.0.1:27960 getstatus OPQRSTUVW\n"
		 "+1500 #2 127.0.0.1:27960 getinfo\n"
		 "+1750 #3 127.0.0.1:27960 getstatus\n"
		 "+2000 #4 127.0.0.1:27960 getinfo GHIJKLMNO\n"
		 "+2250 #5 127.0.0.1:27960 getstatus ijklmnopq\n"
		 "+2500 #6 127.0.0.1:27960 getinfo\n"
		 "+2750 #7 127.0.0.1:27960 getstatus\n"
		 "+3000 #0 127.0.0.1:27960 getinfo abcdefghi\n"
		 "+3250 #8 127.0.0.1:27960 getstatus OPQRSTUVW\n"
		 "+3500 #2 127.0.0.1:27960 getinfo\n"
		 "+3750 #8 127.0.0.1:27960 getstatus\n",
		 "");
	stop();
}

/* Every five minutes, and at the end; what fails is said once. */
static void who_is_known_is_kept(void **state)
{
	(void)state;
	config.service_count = 0;
	assert_int_equal(start("/pins"), 0);
	pass(301 * SECOND);
	happened("  socket 0 at 127.83.81.1\n"
		 "  socket 1 at 127.83.81.2\n"
		 "  socket 2 at 127.83.81.3\n"
		 "  socket 3 at 127.83.81.4\n"
		 "  socket 4 at 127.83.81.5\n"
		 "  socket 5 at 127.83.81.6\n"
		 "  socket 6 at 127.83.81.7\n"
		 "  socket 7 at 127.83.81.8\n"
		 "  socket 8 at 127.0.0.1\n"
		 "  read /pins/known-clients.txt\n",
		 "");
	known = 1;
	pass(299 * SECOND);
	happened("  write /pins/known-clients.txt at +600000\n", "");
	pass(SECOND);
	happened("", "");
	keep_err = -ENOSPC;
	pass(900 * SECOND);
	happened(
		"  write /pins/known-clients.txt at +900000\n"
		"  write /pins/known-clients.txt at +1200000\n"
		"  write /pins/known-clients.txt at +1500000\n",
		"quakeshield: cannot keep who is known in '/pins/known-clients.txt': No space"
		" left on device\n");
	directory_err = -EROFS;
	pass(300 * SECOND);
	happened(
		"",
		"quakeshield: cannot keep who is known in '/pins/known-clients.txt': Read-"
		"only file system\n");
	directory_err = keep_err = 0;
	pass(300 * SECOND);
	keep_err = -ENOSPC;
	stop();
	happened(
		"  write /pins/known-clients.txt at +2100000\n"
		"  write /pins/known-clients.txt at +2101000\n"
		"  closed 0\n"
		"  closed 1\n"
		"  closed 2\n"
		"  closed 3\n"
		"  closed 4\n"
		"  closed 5\n"
		"  closed 6\n"
		"  closed 7\n  closed 8\n",
		"quakeshield: cannot keep who is known in '/pins/known-clients.txt': No space"
		" left on device\n");
}

static void what_was_known_is_read(void **state)
{
	(void)state;
	config.service_count = 0;
	bad_lines = 3;
	assert_int_equal(start(NULL), 0);
	happened(
		"  socket 0 at 127.83.81.1\n"
		"  socket 1 at 127.83.81.2\n"
		"  socket 2 at 127.83.81.3\n"
		"  socket 3 at 127.83.81.4\n"
		"  socket 4 at 127.83.81.5\n"
		"  socket 5 at 127.83.81.6\n"
		"  socket 6 at 127.83.81.7\n"
		"  socket 7 at 127.83.81.8\n"
		"  socket 8 at 127.0.0.1\n"
		"  read (default)/known-clients.txt\n",
		"quakeshield: warning: (default)/known-clients.txt:7: not an address, its "
		"hops and a time; 3 such lines were passed over\n");
	stop();
	read_err = -EACCES;
	assert_int_equal(start(NULL), 0);
	happened("  closed 0\n"
		 "  closed 1\n"
		 "  closed 2\n"
		 "  closed 3\n"
		 "  closed 4\n"
		 "  closed 5\n"
		 "  closed 6\n"
		 "  closed 7\n  closed 8\n"
		 "  socket 0 at 127.83.81.1\n"
		 "  socket 1 at 127.83.81.2\n"
		 "  socket 2 at 127.83.81.3\n"
		 "  socket 3 at 127.83.81.4\n"
		 "  socket 4 at 127.83.81.5\n"
		 "  socket 5 at 127.83.81.6\n"
		 "  socket 6 at 127.83.81.7\n"
		 "  socket 7 at 127.83.81.8\n"
		 "  socket 8 at 127.0.0.1\n"
		 "  read (default)/known-clients.txt\n",
		 "quakeshield: warning: cannot read who is known from "
		 "'(default)/known-clients.txt': Permission denied\n");
	stop();
}

/* There can be no file of that name: once it is said, and nothing is written. */
static void where_nobody_is_kept(void **state)
{
	char pin[INCIDENT_PATH + 1] = "/";

	(void)state;
	memset(pin + 1, 'p', sizeof(pin) - 2);
	config.service_count = 0;
	known = 1;
	assert_int_equal(start(pin), 0);
	pass(301 * SECOND);
	stop();
	happened("  socket 0 at 127.83.81.1\n"
		 "  socket 1 at 127.83.81.2\n"
		 "  socket 2 at 127.83.81.3\n"
		 "  socket 3 at 127.83.81.4\n"
		 "  socket 4 at 127.83.81.5\n"
		 "  socket 5 at 127.83.81.6\n"
		 "  socket 6 at 127.83.81.7\n"
		 "  socket 7 at 127.83.81.8\n"
		 "  socket 8 at 127.0.0.1\n"
		 "  closed 0\n"
		 "  closed 1\n"
		 "  closed 2\n"
		 "  closed 3\n"
		 "  closed 4\n"
		 "  closed 5\n"
		 "  closed 6\n"
		 "  closed 7\n  closed 8\n",
		 "quakeshield: warning: who is known is not kept: the path would be too "
		 "long (STATE_DIRECTORY, --pin)\n");
}

/* Without loopback, without a timer, without anybody to ask. */
static void who_cannot_ask(void **state)
{
	(void)state;
	bind_fails = 2;
	assert_int_equal(start(NULL), 0);
	pass(3 * SECOND);
	happened("  socket 0 at 127.83.81.1\n"
		 "  socket 1 at 127.83.81.2\n"
		 "  socket 2 at 127.83.81.3\n"
		 "  read (default)/known-clients.txt\n",
		 "quakeshield: warning: cannot ask servers from 127.83.81.3: Cannot "
		 "assign requested address; no service is answered for\n");
	stop();
	happened("  closed 0\n"
		 "  closed 1\n"
		 "  closed 2\n",
		 "");
	bind_fails = -1;
	no_timer = true;
	assert_int_equal(start(NULL), -ENOSPC);
	happened("  socket 0 at 127.83.81.1\n"
		 "  socket 1 at 127.83.81.2\n"
		 "  socket 2 at 127.83.81.3\n"
		 "  socket 3 at 127.83.81.4\n"
		 "  socket 4 at 127.83.81.5\n"
		 "  socket 5 at 127.83.81.6\n"
		 "  socket 6 at 127.83.81.7\n"
		 "  socket 7 at 127.83.81.8\n"
		 "  socket 8 at 127.0.0.1\n"
		 "  closed 0\n"
		 "  closed 1\n"
		 "  closed 2\n"
		 "  closed 3\n"
		 "  closed 4\n"
		 "  closed 5\n"
		 "  closed 6\n"
		 "  closed 7\n  closed 8\n",
		 "quakeshield: no room for one more timer\n");
	no_timer = false;
	config.observe = true;
	assert_int_equal(start(NULL), 0);
	pass(3 * SECOND);
	happened("  socket 0 at 127.83.81.1\n"
		 "  socket 1 at 127.83.81.2\n"
		 "  socket 2 at 127.83.81.3\n"
		 "  socket 3 at 127.83.81.4\n"
		 "  socket 4 at 127.83.81.5\n"
		 "  socket 5 at 127.83.81.6\n"
		 "  socket 6 at 127.83.81.7\n"
		 "  socket 7 at 127.83.81.8\n"
		 "  socket 8 at 127.0.0.1\n"
		 "  read (default)/known-clients.txt\n",
		 "");
	/* With the next configuration one that has no slot, and one with two ports. */
	config.observe = false;
	strcpy(config.services[0].service.name, "nowhere");
	config.services[1].ports[config.services[1].port_count++] = 27911;
	cache_refresh_reload(refresh, &config);
	pass(3 * SECOND);
	happened("",
		 "quakeshield: warning: service 'base': its server cannot be asked, so"
		 " nothing is answered for it: that takes one port, and no more\n");
	strcpy(config.services[0].service.name, "arena");
	cache_refresh_reload(refresh, &config);
	cache_refresh_reload(NULL, &config);
	pass(SECOND);
	happened("+10000 #0 127.0.0.1:27960 getinfo abcdefghi\n",
		 "quakeshield: warning: service 'base': its server cannot be asked, so"
		 " nothing is answered for it: that takes one port, and no more\n");
	stop();
	cache_refresh_stop(NULL);
}

/* Somebody applies other files than the daemon's: who has a slot now is asked, anew. */
static void slots_change_hands(void **state)
{
	(void)state;
	config.services[1].service.cache = CACHE_OFF;
	replies[0] = true;
	assert_int_equal(start(NULL), 0);
	pass(3 * SECOND);
	text[0] = 0;
	/* Its slot is another's before it is looked again: what it replied stays away. */
	names[5] = "other";
	pass(3 * SECOND);
	happened("+5510 #6 127.0.0.1:27960 getinfo\n"
		 "  not put for arena\n"
		 "+5760 #7 127.0.0.1:27960 getstatus\n"
		 "  not put for arena\n"
		 "+6000 #0 127.0.0.1:27960 getinfo abcdefghi\n",
		 "");
	generation++;
	pass(61 * SECOND);
	happened("", "");
	/* It comes back elsewhere; another file moves it while something presses. */
	names[7] = "arena";
	pressed[7] = true;
	generation++;
	pass(1500 * MS);
	happened("+68000 #1 127.0.0.1:27960 getinfo OPQRSTUVW\n"
		 "+68200 #2 127.0.0.1:27960 getstatus qrstuvwxy\n"
		 "+68400 #3 127.0.0.1:27960 getinfo\n"
		 "  slot 7 form 2: 74 bytes of +68400\n",
		 "");
	names[7] = NULL;
	names[5] = "arena";
	generation++;
	pass(2 * SECOND);
	happened("+68600 #4 127.0.0.1:27960 getinfo GHIJKLMNO\n"
		 "+68850 #5 127.0.0.1:27960 getstatus ijklmnopq\n"
		 "+69100 #6 127.0.0.1:27960 getinfo\n"
		 "  slot 5 form 2: 74 bytes of +69100\n"
		 "+69350 #7 127.0.0.1:27960 getstatus\n"
		 "  slot 5 form 3: 76 bytes of +69350\n"
		 "+69600 #0 127.0.0.1:27960 getinfo abcdefghijklmnopqrstuvwxyzABCDEF\n"
		 "  slot 5 form 0: 74 bytes of +69600\n"
		 "+69850 #1 127.0.0.1:27960 getstatus OPQRSTUVWXYZ0123456789ababcdefgh\n"
		 "  slot 5 form 1: 76 bytes of +69850\n",
		 "");
	/* The same again. */
	generation++;
	pass(2 * SECOND);
	happened("", "");
	stop();
}

/* Somebody changes the tables: what was learnt is asked for again, soon. */
static void what_could_not_be_put(void **state)
{
	(void)state;
	config.services[1].service.cache = CACHE_OFF;
	replies[0] = true;
	assert_int_equal(start(NULL), 0);
	pass(6 * SECOND);
	text[0] = 0;
	locked = true;
	pass(300 * MS);
	happened("  not put for arena\n"
		 "+6260 #1 127.0.0.1:27960 getstatus OPQRSTUVW\n",
		 "");
	locked = false;
	pass(1700 * MS);
	happened("  slot 5 form 1: 76 bytes of +6260\n"
		 "+6760 #2 127.0.0.1:27960 getinfo qrstuvwxyzABCDEFGHIJKLMNOPQRSTUV\n"
		 "  slot 5 form 0: 74 bytes of +6760\n",
		 "");
	stop();
}

#define ANSWERER_DAYS                                                       \
	TEST(both_reply), TEST(nobody_replies), TEST(always_is_as_pressed), \
		TEST(what_cannot_be_sent), TEST(who_is_known_is_kept),      \
		TEST(what_was_known_is_read), TEST(who_cannot_ask),         \
		TEST(slots_change_hands), TEST(what_could_not_be_put),      \
		TEST(where_nobody_is_kept)

#endif /* CACHE_REFRESH_DAYS_H */
