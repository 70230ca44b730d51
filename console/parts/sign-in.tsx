import { useContext, useState } from 'preact/hooks';
import { Button } from './button.js';
import { accessToken, signIn, type SignInSettings, signInFailure, signOut } from '../api/sign-in.js';
import { rolesOf, Who } from './for-role.js';
import { failureDetail } from './states.js';
import { useCredentials } from '../api/token.js';
import { text } from '../strings.js';

/** The signed-in user with their roles, and a button to sign in or out. Shows nothing if sign-in is off. */
export function SignIn({ settings }: { readonly settings: SignInSettings | undefined }) {
  const me = useContext(Who);
  useCredentials();
  const [error, setError] = useState<unknown>(signInFailure());
  if (settings === undefined) return null;
  const t = text.signIn;
  return (
    <div class="who">
      {me !== undefined && (
        <p>
          <span class="name">{me.caller}</span> <span class="quiet">{rolesOf(me)}</span>
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
          {t.failed(failureDetail(error))}
        </p>
      )}
    </div>
  );
}
