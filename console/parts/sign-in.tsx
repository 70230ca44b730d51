import { useContext, useState } from 'preact/hooks';
import { Button } from './button.js';
import { accessToken, signIn, type SignInSettings, signInFailure, signOut } from '../api/sign-in.js';
import { roleNames, CurrentUser } from './for-role.js';
import { errorDetail } from './states.js';
import { useCredentials } from '../api/token.js';
import { text } from '../strings.js';

/** The signed-in user with their roles, and a button to sign in or out. Shows nothing if sign-in is off. */
export function SignIn({ settings }: { readonly settings: SignInSettings | undefined }) {
  const me = useContext(CurrentUser);
  useCredentials();
  const [error, setError] = useState<unknown>(signInFailure());
  if (settings === undefined) return null;
  const t = text.signIn;
  return (
    <div class="who">
      {me !== undefined && (
        <p>
          <span class="name">{me.caller}</span> <span class="quiet">{roleNames(me)}</span>
        </p>
      )}
      {accessToken() !== undefined ? (
        <Button class="small" onClick={signOut} label={t.out} />
      ) : (
        settings.clientId !== undefined && (
          <Button class="small" onClick={() => void signIn(settings).catch(setError)} label={t.in} />
        )
      )}
      {error !== undefined && (
        <p class="wrong" role="alert">
          {t.failed(errorDetail(error))}
        </p>
      )}
    </div>
  );
}
