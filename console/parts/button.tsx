import type { ComponentChildren, JSX } from 'preact';
import { text } from '../strings.js';

interface LabelProps {
  readonly label: ComponentChildren;
}

/** A button; one that submits its form has the type `submit`. */
export function Button({
  label,
  ...attributes
}: LabelProps & Omit<JSX.IntrinsicElements['button'], 'label'>) {
  return (
    <button type="button" {...attributes}>
      {label}
    </button>
  );
}

interface LinkProps extends LabelProps {
  readonly href: string;
  readonly class?: string;
  readonly download?: string;
  readonly onClick?: () => void;
}

/** A link that looks like a button. */
export function ButtonLink({ label, ...attributes }: LinkProps) {
  return (
    <a class="button" {...attributes}>
      {label}
    </a>
  );
}

/** A link that downloads a resource of the API as a file. */
export function Download({ href, name }: { readonly href: string; readonly name: string }) {
  return (
    <a class="button small" href={href} download={name}>
      {text.models.download}
    </a>
  );
}
