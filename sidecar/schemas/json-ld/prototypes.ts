/**
 * Lets nobody add members to what every object inherits. The JSON-LD package keeps IRIs as members of objects; relative
 * ones from a hostile context, such as "constructor", would lead it to write there, for whoever is served next to read.
 */
export function protectPrototypes(): void {
  if (!Object.isExtensible(Object.prototype)) return;
  for (const descriptor of Object.values(Object.getOwnPropertyDescriptors(Object.prototype)))
    for (const held of Object.values(descriptor) as readonly unknown[])
      if (typeof held === 'function') Object.preventExtensions(held);
  Object.preventExtensions(Object.prototype);
}
