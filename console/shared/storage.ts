/** A text in the storage of the tab or the browser. If that is switched off or full, it lasts until the page is left. */
export class StoredText {
  #unstored: string | undefined;

  /** @param storage is a function because reading the property already fails where storage is switched off */
  constructor(
    readonly storage: () => Storage,
    readonly key: string,
  ) {}

  /** Returns the text that was set last, even if the storage refused it. */
  get(): string | undefined {
    if (this.#unstored !== undefined) return this.#unstored;
    try {
      return this.storage().getItem(this.key) ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** Stores a text, or removes it. @returns whether the storage has it */
  set(text: string | undefined): boolean {
    this.#unstored = undefined;
    try {
      if (text === undefined) this.storage().removeItem(this.key);
      else this.storage().setItem(this.key, text);
      return true;
    } catch {
      this.#unstored = text;
      return false;
    }
  }
}
