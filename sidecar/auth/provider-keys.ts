import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../shared/clock.js';
import { SignInUnavailableError } from './errors.js';
import { ProviderError } from './provider-documents.js';

/** Age at which keys are read again; old keys remain in use until then. A withdrawn key is rejected after this time. */
const MAX_AGE_MS = 10 * 60_000;

/**
 * The pause after a failed attempt, and between two attempts because of unknown keys. It limits the requests to the provider
 * that a client can cause by sending tokens with unknown keys.
 */
const COOLDOWN_MS = 10_000;

export interface ProviderKeysOptions {
  /** Reads the key set of the provider. */
  readonly fetchKeys: () => Promise<unknown>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Called when the keys can no longer be read, and when they can be read again. Must not throw. */
  readonly onAway: (error: unknown) => void;
  readonly onBack: () => void;
}

/**
 * The keys of a provider. They are used until newer ones have been read, however long the provider is unavailable. While it is
 * unavailable, a token with an unknown key is not accepted.
 */
export class ProviderKeys {
  readonly #options: ProviderKeysOptions;
  #keys: ReturnType<typeof createLocalJWKSet> | undefined;
  #fetchedMs = -Infinity;
  /** When the keys were last read because of an unknown key. */
  #unknownKeyMs = -Infinity;
  /** When the last attempt failed; undefined if it succeeded. */
  #failedMs: number | undefined;
  #pendingFetch: Promise<void> | undefined;

  constructor(options: ProviderKeysOptions) {
    this.#options = options;
  }

  /** Finds the key of a token, for jose. @throws SignInUnavailableError, and jose's error for a key that does not exist */
  readonly findKey: JWTVerifyGetKey = async (header, token) => {
    if (this.#keys === undefined) await this.#requireFetch();
    else if (!this.#isWithin(MAX_AGE_MS, this.#fetchedMs)) await this.#refresh();
    try {
      return await this.#findCached(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    await this.readAgain();
    return this.#findCached(header, token);
  };

  /** Starts reading the keys, unless the last attempt has just failed. */
  prefetch(): void {
    if (!this.#isInCooldown()) this.#fetch().catch(() => undefined);
  }

  /**
   * Reads the keys again. If the provider is known to be unavailable, the old keys are used without waiting; otherwise the
   * caller waits, because a key may have been withdrawn.
   */
  async #refresh(): Promise<void> {
    if (this.#failedMs === undefined) await this.#fetch().catch(() => undefined);
    else this.prefetch();
  }

  #findCached(...token: Parameters<JWTVerifyGetKey>) {
    if (this.#keys === undefined) throw this.#unavailable();
    return this.#keys(...token);
  }

  /**
   * Reads the keys again because of a token that none of them fits: it may be signed by a new key.
   *
   * @returns false if the keys were read for this reason a moment ago
   * @throws SignInUnavailableError
   */
  async readAgain(): Promise<boolean> {
    if (this.#pendingFetch === undefined) {
      if (this.#failedMs === undefined && this.#isWithin(COOLDOWN_MS, this.#unknownKeyMs)) return false;
      this.#unknownKeyMs = this.#options.clock.monotonicMs();
    }
    await this.#requireFetch();
    return true;
  }

  async #requireFetch(): Promise<void> {
    if (this.#isInCooldown()) throw this.#unavailable();
    await this.#fetch().catch(() => {
      throw this.#unavailable();
    });
  }

  /** Reads the keys; concurrent callers share one request. */
  #fetch(): Promise<void> {
    return (this.#pendingFetch ??= this.#fetchNow().finally(() => {
      this.#pendingFetch = undefined;
    }));
  }

  async #fetchNow(): Promise<void> {
    const { fetchKeys, clock, onAway, onBack } = this.#options;
    const wasAway = this.#failedMs !== undefined;
    try {
      const document = await fetchKeys();
      this.#keys = keySetOf(document);
      this.#fetchedMs = clock.monotonicMs();
      this.#failedMs = undefined;
    } catch (error) {
      this.#failedMs = clock.monotonicMs();
      if (!wasAway) onAway(error);
      throw error;
    }
    if (wasAway) onBack();
  }

  #isInCooldown(): boolean {
    return this.#failedMs !== undefined && this.#isWithin(COOLDOWN_MS, this.#failedMs);
  }

  #unavailable(): SignInUnavailableError {
    const leftMs = (this.#failedMs ?? 0) + COOLDOWN_MS - this.#options.clock.monotonicMs();
    return new SignInUnavailableError(Math.min(Math.max(Math.ceil(leftMs / 1000), 1), COOLDOWN_MS / 1000));
  }

  /** Whether a time was less than `ms` ago. */
  #isWithin(ms: number, sinceMs: number): boolean {
    return this.#options.clock.monotonicMs() - sinceMs < ms;
  }
}

function keySetOf(document: unknown): ReturnType<typeof createLocalJWKSet> {
  try {
    return createLocalJWKSet(document as JSONWebKeySet);
  } catch (cause) {
    throw new ProviderError('The keys of the provider are not a valid key set.', { cause });
  }
}
