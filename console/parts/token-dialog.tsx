import { useEffect, useState } from 'preact/hooks';
import { giveToken, isAskedForToken, onTokenChange, token } from '../api/token.js';
import { unsendable } from '../shared/header-text.js';
import { text } from '../strings.js';
import { Dialog } from './dialog.js';
import { Field } from './fields.js';

/** Asks for the gateway token whenever a request needs it. */
export function TokenDialog() {
  const [isAsked, setIsAsked] = useState(isAskedForToken());
  const [value, setValue] = useState('');
  useEffect(
    () =>
      onTokenChange(() => {
        setIsAsked(isAskedForToken());
        setValue('');
      }),
    [],
  );
  if (!isAsked) return null;
  const isUnsendable = unsendable(value) !== undefined;
  return (
    <Dialog title={text.token.title} onClose={() => giveToken(undefined)}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (value.trim() !== '' && !isUnsendable) giveToken(value.trim());
        }}
      >
        {token() !== undefined && <p class="wrong">{text.token.wrong}</p>}
        <p>{text.token.why}</p>
        <Field
          label={text.token.label}
          type="password"
          value={value}
          onInput={setValue}
          error={isUnsendable ? text.token.unsendable : undefined}
          isRequired
          isWide
        />
        <div class="actions">
          <button type="submit" class="primary">
            {text.token.use}
          </button>
          <button type="button" onClick={() => giveToken(undefined)}>
            {text.token.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
