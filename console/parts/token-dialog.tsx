import { useEffect, useState } from 'preact/hooks';
import { Button } from './button.js';
import { signIn, type SignInSettings } from '../api/sign-in.js';
import { giveToken, isAskedForToken, onTokenChange, token } from '../api/token.js';
import { unsendable } from '../shared/header-text.js';
import { text } from '../strings.js';
import { Dialog } from './sure-dialog.js';
import { failureDetail } from './states.js';
import { Field } from './fields.js';

/** Asks the user to sign in, or for the gateway token, whenever a request needs it. */
export function TokenDialog({ signIn: settings }: { readonly signIn?: SignInSettings | undefined }) {
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
  const [failure, setFailure] = useState<unknown>();
  if (!isAsked) return null;
  if (settings?.clientId !== undefined) {
    const t = text.signIn;
    return (
      <Dialog title={t.title} onClose={() => giveToken(undefined)}>
        <p>{t.why(new URL(settings.issuer).host)}</p>
        {failure !== undefined && (
          <p class="wrong" role="alert">
            {t.failed(failureDetail(failure))}
          </p>
        )}
        <div class="actions">
          <Button class="primary" onClick={() => void signIn(settings).catch(setFailure)} label={t.in} />
          <Button onClick={() => giveToken(undefined)} label={text.labels.notNow} />
        </div>
      </Dialog>
    );
  }
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
          <Button type="submit" class="primary" label={text.token.use} />
          <Button onClick={() => giveToken(undefined)} label={text.labels.notNow} />
        </div>
      </form>
    </Dialog>
  );
}
