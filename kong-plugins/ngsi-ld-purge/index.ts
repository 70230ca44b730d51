/** What Kong's JavaScript plugin server reads of a plugin. */

export { Schema } from './config-schema.js';
export { Plugin } from './handler.js';

export const Name = 'ngsi-ld-purge';

/** Kong demands x.y.z; the package's version. */
export const Version = '0.1.0';

/**
 * Plugins with a higher priority run first. Low, so that authentication (1000 and more), access control (950), rate
 * limiting (910) and header transformation (801) have run, and nothing rewrites the stamp afterwards.
 */
export const Priority = 15;
