-- Made from kong-plugins/ngsi-ld-purge by `npm run kong-lua`: do not edit it.
return {
  name = "ngsi-ld-purge",
  fields = {
    {
      config = {
        type = "record",
        fields = {
          { sidecar_host = {
              type = "string",
              required = true,
              description = "Host name or IP address of the sidecar that carries out purges, without scheme, port or path.",
              match_none = {
                {
                  pattern = "[^%w%.%-_:%[%]]",
                  err = "must be a host name or an IP address, without scheme or path",
                },
                {
                  pattern = "^[^%[]*:",
                  err = "must not contain a port (use sidecar_port); an IPv6 address needs brackets",
                },
              },
            } },
          { sidecar_port = {
              type = "integer",
              required = true,
              default = 8080,
              between = { 1, 65535 },
              description = "TCP port of the sidecar.",
            } },
          { gateway_token = {
              type = "string",
              referenceable = true,
              encrypted = true,
              description = "Shared secret sent to the sidecar as X-Gateway-Token; the same as its GATEWAY_TOKEN. Best given as a vault reference.",
              len_min = 8,
              len_max = 1024,
              match_none = {
                {
                  pattern = "[%s%c,]",
                  err = "must not contain white space, commas or control characters",
                },
              },
            } },
          { connect_timeout_ms = {
              type = "integer",
              required = true,
              default = 5000,
              between = { 1, 2147483646 },
              description = "Milliseconds to wait for a connection to the sidecar.",
            } },
          { read_timeout_ms = {
              type = "integer",
              required = true,
              default = 3600000,
              between = { 1, 2147483646 },
              description = "Milliseconds to wait for the answer to a purge. A purge answers when it is done: allow for your largest one.",
            } },
          { max_affected = {
              type = "integer",
              between = { 1, 2147483647 },
              description = "Refuse a purge that matches more than this, before its first delete.",
            } },
          { page_size = {
              type = "integer",
              between = { 1, 1000000 },
              description = "Maximum number of entities that the sidecar may request from the broker in one query page.",
            } },
          { batch_size = {
              type = "integer",
              between = { 1, 100000 },
              description = "Maximum number of ids that the sidecar may put into one batch delete.",
            } },
          { concurrency = {
              type = "integer",
              between = { 1, 256 },
              description = "Maximum number of concurrent delete requests for one purge of entities.",
            } },
          { temporal_concurrency = {
              type = "integer",
              between = { 1, 256 },
              description = "Maximum number of concurrent delete requests for one purge of temporal data.",
            } },
          { allow_temporal = {
              type = "boolean",
              required = true,
              default = true,
              description = "Whether purges of temporal data are allowed; if not, they are answered with 403.",
            } },
          { dry_run_only = {
              type = "boolean",
              required = true,
              default = false,
              description = "Allow dry runs only: a purge without dryRun=true is answered with 403, and nothing is deleted.",
            } },
          { archive = {
              type = "string",
              one_of = { "best-effort", "required" },
              description = "The minimum that a purge must archive of what it deletes: best-effort, or required (what cannot be archived is not deleted).",
            } },
          { vouch_for_writes = {
              type = "boolean",
              required = true,
              default = false,
              description = "Send writes under /ngsi-ld to the sidecar, which checks them, with the token and the name of their caller. For the routes of checked writes.",
            } },
        },
      },
    },
  },
}
