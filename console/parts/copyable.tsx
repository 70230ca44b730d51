import { useState } from 'preact/hooks';
import { Button } from './button.js';
import { text } from '../strings.js';

/** A text that can be copied. */
export function Copyable({ label, value }: { readonly label: string; readonly value: string }) {
  const [message, setMessage] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setMessage(text.copy.done);
    } catch {
      // Pages loaded from another machine without TLS have no access to the clipboard.
      setMessage(text.copy.failed);
    }
    setTimeout(() => setMessage(''), 3000);
  };
  return (
    <figure class="copyable">
      <figcaption>
        <span>{label}</span>
        <span role="status">{message}</span>
        <Button
          class="small"
          aria-label={`${text.copy.button}: ${label}`}
          onClick={() => void copy()}
          label={text.copy.button}
        />
      </figcaption>
      <pre tabIndex={0} aria-label={label}>
        {value}
      </pre>
    </figure>
  );
}
