import { useState } from 'preact/hooks';
import { Button } from './button.js';
import { signIn, type SignInSettings } from '../api/sign-in.js';
import { submitToken, isTokenAsked, token, useCredentials } from '../api/token.js';
import { invalidCharacter } from '../shared/header-value.js';
import { text } from '../strings.js';
import { Dialog } from './dialog.js';
import { errorDetail } from './states.js';
import { Form, Field } from './fields.js';

/** Asks the user to sign in, or for the gateway token, whenever a request needs it. */
export function TokenDialog({ signIn: settings }: { readonly signIn?: SignInSettings | undefined }) {
  useCredentials();
  if (!isTokenAsked()) return null;
  return settings?.clientId === undefined ? <TokenForm /> : <SignInQuestion settings={settings} />;
}

function SignInQuestion({ settings }: { readonly settings: SignInSettings }) {
  const t = text.signIn;
  const [failure, setFailure] = useState<unknown>();
  return (
    <Dialog title={t.title} onClose={() => submitToken(undefined)}>
      <p>{t.why(new URL(settings.issuer).host)}</p>
      {failure !== undefined && (
        <p class="wrong" role="alert">
          {t.failed(errorDetail(failure))}
        </p>
      )}
      <div class="actions">
        <Button class="primary" onClick={() => void signIn(settings).catch(setFailure)} label={t.in} />
        <Button onClick={() => submitToken(undefined)} label={text.labels.notNow} />
      </div>
    </Dialog>
  );
}

function TokenForm() {
  const t = text.token;
  const [value, setValue] = useState('');
  const isUnsendable = invalidCharacter(value) !== undefined;
  return (
    <Dialog title={t.title} onClose={() => submitToken(undefined)}>
      <Form
        method="dialog"
        onSubmit={() => {
          if (value.trim() !== '' && !isUnsendable) submitToken(value.trim());
        }}
      >
        {token() !== undefined && <p class="wrong">{t.wrong}</p>}
        <p>{t.why}</p>
        <Field
          label={t.label}
          type="password"
          value={value}
          onInput={setValue}
          error={isUnsendable ? t.unsendable : undefined}
          isRequired
          isWide
        />
        <div class="actions">
          <Button type="submit" class="primary" label={t.use} />
          <Button onClick={() => submitToken(undefined)} label={text.labels.notNow} />
        </div>
      </Form>
    </Dialog>
  );
}
