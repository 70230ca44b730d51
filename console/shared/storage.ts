/** A text in the storage of the tab or the browser. If that is switched off or full, it lasts until the page is left. */
export class StoredText {
  #unstored: string | undefined;

  /** @param storage is a function because reading the property already fails where storage is switched off */
  constructor(
    readonly storage: () => Storage,
    readonly key: string,
  ) {}

  get(): string | undefined {
    try {
      return this.storage().getItem(this.key) ?? this.#unstored;
    } catch {
      return this.#unstored;
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
