import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../shared/clock.js';
import { SignInUnavailableError } from './errors.js';
import { ProviderError } from './provider-documents.js';

/** How old keys may be before they are read again, while they go on being used. What was withdrawn is known after that time. */
const REFRESH_MS = 10 * 60_000;

/**
 * The pause after a try that failed, and between two that were made for unknown keys: whoever sends tokens with keys that do not
 * exist makes no more requests to the provider than that.
 */
const PAUSE_MS = 10_000;

export interface ProviderKeysOptions {
  /** Reads the key set of the provider. */
  readonly read: () => Promise<unknown>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Called when the keys cannot be read any more, and when they can be again. Must not throw. */
  readonly onAway: (error: unknown) => void;
  readonly onBack: () => void;
}

/**
 * The keys of a provider. Those that were read are used until others are, however long the provider is away; a key that is
 * unknown while it is away lets nobody in.
 */
export class ProviderKeys {
  readonly #options: ProviderKeysOptions;
  #keys: ReturnType<typeof createLocalJWKSet> | undefined;
  #readMs = -Infinity;
  /** When keys were last asked for because of an unknown one. */
  #lookedMs = -Infinity;
  /** When the last try failed; undefined if it did not. */
  #failedMs: number | undefined;
  #reading: Promise<void> | undefined;

  constructor(options: ProviderKeysOptions) {
    this.#options = options;
  }

  /** Finds the key of a token, for jose. @throws SignInUnavailableError, and what jose throws for a key that does not exist */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (this.#keys === undefined) await this.#demand();
    else if (!this.#isWithin(REFRESH_MS, this.#readMs)) await this.#refresh();
    try {
      return await this.#known(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    await this.#lookForNew();
    return this.#known(header, token);
  };

  /** Begins to read the keys, unless that has just failed. */
  prefetch(): void {
    if (!this.#hasJustFailed()) this.#read().catch(() => undefined);
  }

  /** Old keys are used on where the provider is known to be away; else they may have been withdrawn since. */
  async #refresh(): Promise<void> {
    if (this.#failedMs === undefined) await this.#read().catch(() => undefined);
    else this.prefetch();
  }

  #known(...token: Parameters<JWTVerifyGetKey>) {
    if (this.#keys === undefined) throw this.#unavailable();
    return this.#keys(...token);
  }

  /** A key may be new at the provider. */
  async #lookForNew(): Promise<void> {
    if (this.#reading === undefined) {
      if (this.#failedMs === undefined && this.#isWithin(PAUSE_MS, this.#lookedMs)) return;
      this.#lookedMs = this.#options.clock.monotonicMs();
    }
    await this.#demand();
  }

  async #demand(): Promise<void> {
    if (this.#hasJustFailed()) throw this.#unavailable();
    await this.#read().catch(() => {
      throw this.#unavailable();
    });
  }

  /** Reads the keys; those who ask meanwhile wait for the same answer. */
  #read(): Promise<void> {
    return (this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined;
    }));
  }

  async #readNow(): Promise<void> {
    const { read, clock, onAway, onBack } = this.#options;
    const wasAway = this.#failedMs !== undefined;
    try {
      const document = await read();
      this.#keys = keySetOf(document);
      this.#readMs = clock.monotonicMs();
      this.#failedMs = undefined;
    } catch (error) {
      this.#failedMs = clock.monotonicMs();
      if (!wasAway) onAway(error);
      throw error;
    }
    if (wasAway) onBack();
  }

  #hasJustFailed(): boolean {
    return this.#failedMs !== undefined && this.#isWithin(PAUSE_MS, this.#failedMs);
  }

  #unavailable(): SignInUnavailableError {
    const leftMs = (this.#failedMs ?? 0) + PAUSE_MS - this.#options.clock.monotonicMs();
    return new SignInUnavailableError(Math.min(Math.max(Math.ceil(leftMs / 1000), 1), PAUSE_MS / 1000));
  }

  /** Whether a time was less than so long ago. */
  #isWithin(ms: number, sinceMs: number): boolean {
    return this.#options.clock.monotonicMs() - sinceMs < ms;
  }
}

function keySetOf(document: unknown): ReturnType<typeof createLocalJWKSet> {
  try {
    return createLocalJWKSet(document as JSONWebKeySet);
  } catch (cause) {
    throw new ProviderError('The keys of the provider are no key set.', { cause });
  }
}
