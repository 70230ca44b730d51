/** Formats a document for people. */
export function shownJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

/** A JSON document, as text. */
export function JsonText({
  label,
  value,
  isWhole = false,
}: {
  readonly label: string;
  readonly value: unknown;
  /** Whether it is the main content of its page. */
  readonly isWhole?: boolean | undefined;
}) {
  return (
    <pre class={isWhole ? 'whole' : undefined} tabIndex={0} aria-label={label}>
      {shownJson(value)}
    </pre>
  );
}
