#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# on-attack-webhook.sh ADDRESS DIRECTION PACKETS/S ban|unban <DETAILS - posts the details
# of an attack, signed, so that who gets them knows that they come from here:
#
#	X-Quakeshield-Time: 1795358701
#	X-Quakeshield-Signature: sha256=HEX	HMAC of "TIME.BODY" with the key
#
# In quakeshield.conf:
#
#	on-attack = /usr/local/share/doc/quakeshield/examples/on-attack-webhook.sh
#
# The address and the key stand in WEBHOOK_ENV (/etc/quakeshield-webhook.env), as
# WEBHOOK_URL=... and WEBHOOK_KEY=... lines. The command runs as a user of its own that
# exists while it runs only, so the file has to be readable by others on this machine, or
# the lines are set in a copy of this script.
# Needs curl and openssl. The key is on no command line but openssl's own.
set -eu

env=${WEBHOOK_ENV:-/etc/quakeshield-webhook.env}
# shellcheck source=/dev/null
[ ! -r "$env" ] || . "$env"
: "${WEBHOOK_URL:?is not set in $env}" "${WEBHOOK_KEY:?is not set in $env}"

body=$(cat)
time=$(date +%s)
signature=$(printf '%s.%s' "$time" "$body" |
	openssl dgst -sha256 -hmac "$WEBHOOK_KEY" | sed 's/^.*= *//')
printf '%s' "$body" | curl -fsS --max-time 20 --retry 3 \
	-H 'Content-Type: application/json' \
	-H "X-Quakeshield-Time: $time" \
	-H "X-Quakeshield-Signature: sha256=$signature" \
	-H "X-Quakeshield-Action: ${4:-}" \
	--data-binary @- -o /dev/null "$WEBHOOK_URL"
