# shellcheck shell=bash
# What the scripts beside this one ask of a machine; they source it from the project's folder.

# Where the machine has real data beside the repository, the tests use it.
data=$(cd .. && pwd)/shared/data
if [ -d "$data" ]; then export METAEVAL_DATA="$data"; fi

get_browser() {
  command -v chromium > /dev/null && return
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium
}
