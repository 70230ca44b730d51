import { join } from 'node:path';
import { Schema } from '../../kong-plugins/ngsi-ld-purge/config-schema.js';
import { Name, Priority, Version } from '../../kong-plugins/ngsi-ld-purge/index.js';
import { ROOT } from './project.js';

/** The folder of the plugin's Lua files. */
export const LUA_FOLDER = join(ROOT, 'deploy', 'kong-hybrid');

const MADE = `-- Made from kong-plugins/ngsi-ld-purge by \`npm run kong-lua\`: do not edit it.`;

/**
 * Returns the plugin's files for the control plane of Kong in hybrid mode and for Konnect, which
 * only read schemas in Lua.
 */
export function luaFiles(): Readonly<Record<'schema.lua' | 'handler.lua', string>> {
  return { 'schema.lua': schemaFile(), 'handler.lua': handlerFile() };
}

/** Builds the schema as Kong itself does for a plugin that a plugin server reports. Konnect accepts no `require` in it. */
function schemaFile(): string {
  return `${MADE}
return {
  name = ${lua(Name, '')},
  fields = {
    {
      config = {
        type = "record",
        fields = ${lua(Schema, '        ')},
      },
    },
  },
}
`;
}

/** A control plane requires the handler but never calls it. */
function handlerFile(): string {
  return `${MADE}
-- For control planes. On a data plane it would take the place of the plugin itself, so there it refuses every request.
return {
  PRIORITY = ${Priority},
  VERSION = ${lua(Version, '')},
  access = function()
    return kong.response.exit(503, { message = "ngsi-ld-purge: remove its handler.lua from this data plane" })
  end,
}
`;
}

/** Returns a value as a Lua expression. */
function lua(value: unknown, indent: string): string {
  if (Array.isArray(value)) {
    const isFlat = value.every((item) => typeof item !== 'object');
    const items = value.map((item) => lua(item, `${indent}  `));
    return isFlat
      ? `{ ${items.join(', ')} }`
      : `{\n${items.map((item) => `${indent}  ${item},\n`).join('')}${indent}}`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${name} = ${lua(member, `${indent}  `)}`);
    return members.length === 1
      ? `{ ${members[0] ?? ''} }`
      : `{\n${members.map((member) => `${indent}  ${member},\n`).join('')}${indent}}`;
  }
  // The text of the schema is plain ASCII, which JSON and Lua write in the same way.
  return JSON.stringify(value);
}
