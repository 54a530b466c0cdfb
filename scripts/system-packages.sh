#!/bin/sh
# The system packages that pip cannot bring: a browser for the tests, libraries for Open3D's renderer.
# As root on Debian they are installed; elsewhere one line says what to run. Nothing here is needed by tpc_core.
set -u
missing=""
command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || missing="$missing chromium"
if [ "$(uname -s)" = Linux ] && command -v ldconfig >/dev/null 2>&1; then
    for pair in libX11.so.6:libx11-6 libgomp.so.1:libgomp1 libGL.so.1:libgl1 libEGL.so.1:libegl1; do
        ldconfig -p | grep -q "${pair%%:*}" || missing="$missing ${pair##*:}"
    done
fi
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing$missing"
    # shellcheck disable=SC2086
    apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null && exit 0
fi
echo "missing:$missing (on Debian: sudo apt-get install --no-install-recommends$missing); tests that need them are skipped"
exit 0
