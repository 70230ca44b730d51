/** The exports that Kong's JavaScript plugin server reads from a plugin. */

export { Schema } from './config-schema.js';
export { Plugin } from './handler.js';

export const Name = 'ngsi-ld-purge';

/** The version of the package. Kong requires the form x.y.z. */
export const Version = '0.1.0';

/**
 * Plugins with a higher priority run first. This one is low, so that authentication (1000 and more), access control (950), rate
 * limiting (910) and header transformation (801) have already run, and nothing rewrites the stamp afterwards.
 */
export const Priority = 15;
