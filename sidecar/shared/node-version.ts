/**
 * Ends a process whose Node.js is too old: one line on standard error, exit code 2. Entry points call this before they
 * import anything else, because packages would fail with their own messages or crash. Written in syntax that old
 * versions can parse.
 */
export function refuseOldNode(process: NodeJS.Process): void {
  if (!isTooOld(process.versions.node)) return;
  process.stderr.write(
    'The gateway needs Node.js 22.19 or newer, but this is ' +
      process.versions.node +
      '. Install a supported version (22, 24 or 26), or, in a checkout, use npm, which brings its own: ' +
      '`npm start`, `npx ngsi-ld-gateway …`.\n',
  );
  process.exit(2);
}

/** Whether a version (`22.18.0`) is older than the oldest supported one. */
export function isTooOld(version: string): boolean {
  const numbers = version.split('.').map(Number);
  const major = numbers[0] || 0;
  return major < 22 || (major === 22 && (numbers[1] || 0) < 19);
}
