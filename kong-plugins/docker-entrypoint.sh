#!/bin/bash
# Kong cannot read addresses from the environment: puts BROKER_URL into the declarative file, then starts Kong as its
# own image does.
set -euo pipefail

template=${KONG_YML_TEMPLATE:-/opt/gateway/kong.yml}
target=${KONG_DECLARATIVE_CONFIG:?the file to write the configuration to}
url=${BROKER_URL:?the base URL of the broker, e.g. http://orion-ld:1026}
url=${url%/}

if ! [[ $url =~ ^https?://[A-Za-z0-9._-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*$ ]]; then
  echo "BROKER_URL is not a base URL such as http://orion-ld:1026" >&2
  exit 64
fi
if [[ $(grep -c '^    url: http://broker:1026$' "$template") != 1 ]]; then
  echo "$template has no single line 'url: http://broker:1026' to replace" >&2
  exit 65
fi
sed "s#^    url: http://broker:1026\$#    url: $url#" "$template" >"$target"

exec "${KONG_ENTRYPOINT:-/docker-entrypoint.sh}" "$@"
