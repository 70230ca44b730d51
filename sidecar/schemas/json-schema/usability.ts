import { SchemaRefusedError, type SchemaFault } from './errors.js';
import type { LinkedSchema } from './linker.js';
import { loopsOf } from './loops.js';
import { faultsOf } from './meta-check.js';
import { compileSchema } from './validator.js';

/**
 * What keeps a schema from being compiled and used: the value of every keyword, every pattern, whether references go in
 * circles, and at last whether it compiles. Nothing when it can be.
 *
 * To be run in a worker.
 */
export function usabilityFaults(linked: LinkedSchema): readonly SchemaFault[] {
  try {
    const faults = faultsOf(linked);
    if (faults.length > 0) return faults;
    const loops = loopsOf(linked);
    if (loops.length > 0) return loops;
    compileSchema(linked, { isOptimized: false });
    return [];
  } catch (error) {
    return faultsOfFailure(error);
  }
}

function faultsOfFailure(error: unknown): readonly SchemaFault[] {
  if (error instanceof SchemaRefusedError) return error.errors;
  if (error instanceof RangeError)
    return [{ pointer: '', detail: 'schemas are within each other, or refer to each other, too deeply' }];
  const reason = error instanceof Error ? error.message : String(error);
  return [{ pointer: '', detail: `cannot be compiled: ${reason}` }];
}
