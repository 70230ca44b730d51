import { text } from '../strings.js';

/** A link that downloads a resource of the API as a file. */
export function Download({ href, name }: { readonly href: string; readonly name: string }) {
  return (
    <a class="button small" href={href} download={name}>
      {text.models.download}
    </a>
  );
}
