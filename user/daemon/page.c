// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * page.c - the page, as it stands in two files, by the assembler: no tool and no step of
 * its own. The paths are from the top of the tree, where make runs.
 */
#include "daemon/page.h"

__asm__(".section .rodata\n"
	".global page_html\n"
	".type page_html, @object\n"
	"page_html:\n"
	".incbin \"user/daemon/page.html\"\n"
	".incbin \"user/daemon/page.js\"\n"
	".ascii \"</script>\\n</body>\\n</html>\\n\"\n"
	".Lpage_end:\n"
	".size page_html, . - page_html\n"
	".balign 8\n"
	".global page_html_size\n"
	".type page_html_size, @object\n"
	".size page_html_size, 8\n"
	"page_html_size:\n"
	".quad .Lpage_end - page_html\n"
	".previous\n");

_Static_assert(sizeof(page_html_size) == 8, "the .quad above is its value");
