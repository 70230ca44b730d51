-- Made from kong-plugins/ngsi-ld-purge by `npm run kong-lua`: do not edit it.
-- For control planes. On a data plane it would take the place of the plugin itself, so there it refuses every request.
return {
  PRIORITY = 15,
  VERSION = "0.1.0",
  access = function()
    return kong.response.exit(503, { message = "ngsi-ld-purge: remove its handler.lua from this data plane" })
  end,
}
