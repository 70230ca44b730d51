/** Puts the focus into the first field of the form that holds a button which goes when it is pressed. */
export function focusFirstField(button: HTMLButtonElement): void {
  const [first] = button.form?.elements ?? [];
  if (first instanceof HTMLElement) first.focus();
}
