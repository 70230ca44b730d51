#!/bin/bash
# Writes BROKER_URL into the declarative configuration, because Kong cannot read addresses from the environment. Then starts
# Kong with the entrypoint of its image.
set -euo pipefail

template=${KONG_YML_TEMPLATE:-/opt/gateway/kong.yml}
target=${KONG_DECLARATIVE_CONFIG:?the file to write the configuration to}
url=${BROKER_URL:?the base URL of the broker, e.g. http://orion-ld:1026}
url=${url%/}

refuse() {
  echo "BROKER_URL $1" >&2
  exit 64
}
if ! [[ $url =~ ^https?://[A-Za-z0-9._-]+(:([0-9]{1,5}))?((/[A-Za-z0-9._~-]+)*)$ ]]; then
  refuse "is not a base URL such as http://orion-ld:1026"
fi
port=${BASH_REMATCH[2]:-80} path=${BASH_REMATCH[3]}/
# In base 10: bash would read a number with a leading zero in base 8.
if ((10#$port < 1 || 10#$port > 65535)); then
  refuse "has no valid port: $port is not between 1 and 65535"
fi
if [[ $path == */ngsi-ld/* ]]; then
  refuse "must be the base URL of the broker, without /ngsi-ld/v1: Kong appends the whole path of a request"
fi
if [[ $(grep -c '^    url: http://broker:1026$' "$template") != 1 ]]; then
  echo "$template has no single line 'url: http://broker:1026' to replace" >&2
  exit 65
fi
sed "s#^    url: http://broker:1026\$#    url: $url#" "$template" >"$target"

exec "${KONG_ENTRYPOINT:-/docker-entrypoint.sh}" "$@"
