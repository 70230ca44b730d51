/** What domains, models and contexts of users may be called. */
const RESOURCE_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/;

/** Whether a domain, a model or a context may have this name. */
export function isResourceName(name: string): boolean {
  return RESOURCE_NAME.test(name);
}
