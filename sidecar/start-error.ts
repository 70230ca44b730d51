import { ConfigError } from './shared/config/load.js';
import { DatabaseUnusableError } from './store/index.js';

/** Formats an error that stops the start, for a person at the terminal. */
export function startErrorLines(error: unknown): readonly string[] {
  if (error instanceof ConfigError) {
    return [
      error.message,
      ...error.mistakes.map((mistake) => `  - ${mistake}`),
      'docs/config.md lists all settings.',
    ];
  }
  const message = error instanceof Error ? error.message : String(error);
  return [explainListenError(error) ?? `${databaseSetting(error)}${message}`];
}

/**
 * Whether an error that stops the start is a mistake in the settings. So is a setting that turns out wrong only when it is
 * used: a database or an archive that cannot be opened, or a HOST that this machine does not have.
 */
export function isMistake(error: unknown): boolean {
  if (error instanceof ConfigError || error instanceof DatabaseUnusableError) return true;
  return isListenError(error) && WRONG_HOST.has(error.code);
}

const WRONG_HOST: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'ENOTFOUND']);

/** Returns the setting at fault when a store cannot be opened; the messages of these errors begin with its path or URL. */
function databaseSetting(error: unknown): string {
  if (!(error instanceof DatabaseUnusableError)) return '';
  return error.message.startsWith('postgres://') ? 'DATABASE_URL: ' : 'DATABASE_PATH: ';
}

/** Explains an address that cannot be listened on, and what to do about it. */
function explainListenError(error: unknown): string | undefined {
  if (!isListenError(error)) return undefined;
  const host = 'address' in error ? error.address : 'hostname' in error ? error.hostname : '';
  const at = `${String(host)}${'port' in error ? ` port ${String(error.port)}` : ''}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `Cannot listen on ${at}: the port is in use. Stop what uses it, or choose another PORT or METRICS_PORT (0 picks a free one).`;
    case 'EACCES':
      return `Cannot listen on ${at}: this user may not. Choose a PORT of 1024 or above.`;
    case 'ENOTSUP':
      return `Cannot listen on ${at}: this system does not let programs share a port (REUSE_PORT).`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `Cannot listen on ${at}: HOST is not an address of this machine.`;
    default:
      return undefined;
  }
}

function isListenError(error: unknown): error is Error & { readonly code: string } {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return false;
  return error.syscall === 'listen' || error.syscall === 'getaddrinfo';
}
