/** Moves the focus to the first field of the form of a button that disappears when pressed. */
export function focusFirstField(button: HTMLButtonElement): void {
  const [first] = button.form?.elements ?? [];
  if (first instanceof HTMLElement) first.focus();
}
