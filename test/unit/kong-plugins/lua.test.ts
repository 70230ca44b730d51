import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { Schema } from '../../../kong-plugins/ngsi-ld-purge/config-schema.js';
import { LUA_FOLDER, luaFiles } from '../../support/kong-lua.js';
import { findProgram } from '../../support/reverse-proxies.js';

it('the Lua files of the plugin are up to date with `npm run kong-lua`', () => {
  for (const [name, text] of Object.entries(luaFiles()))
    assert.equal(readFileSync(join(LUA_FOLDER, name), 'utf8'), text, name);
});

/** Reads the files as Kong does, and prints them as JSON. Konnect accepts no `require` in a schema. */
const PROGRAM = `
  require = nil
  local function json(value)
    if type(value) ~= "table" then return type(value) == "string" and string.format("%q", value) or tostring(value) end
    local parts = {}
    if #value > 0 then
      for _, item in ipairs(value) do parts[#parts + 1] = json(item) end
      return "[" .. table.concat(parts, ",") .. "]"
    end
    for name, item in pairs(value) do parts[#parts + 1] = string.format("%q:%s", name, json(item)) end
    return "{" .. table.concat(parts, ",") .. "}"
  end
  local status
  kong = { response = { exit = function(code) status = code end } }
  local handler = dofile(arg[1] .. "/handler.lua")
  handler.access()
  handler.access = nil
  print(json({ schema = dofile(arg[1] .. "/schema.lua"), handler = handler, status = status }))
`;

const luajit = findProgram('luajit');

it(
  'the Lua files of the plugin give Kong its schema, and refuse requests if they run in place of the plugin',
  { skip: luajit === undefined ? 'luajit is not installed' : false },
  () => {
    const output = execFileSync(luajit ?? '', ['-', LUA_FOLDER], { input: PROGRAM, encoding: 'utf8' });
    assert.deepEqual(JSON.parse(output), {
      schema: { name: 'ngsi-ld-purge', fields: [{ config: { type: 'record', fields: Schema } }] },
      handler: { PRIORITY: 15, VERSION: '0.1.0' },
      status: 503,
    });
  },
);
