import { h, type FunctionComponent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from './parts/button.js';
import { accessToken } from './api/sign-in.js';
import { clearToken, token, useCredentials } from './api/token.js';
import { HistoryPage } from './history/history-page.js';
import { OverviewPage } from './overview/overview-page.js';
import { api } from './api/client.js';
import { Page } from './parts/page.js';
import { SignIn } from './parts/sign-in.js';
import { Loading } from './parts/states.js';
import { TokenDialog } from './parts/token-dialog.js';
import { Environment, EnvironmentInfo } from './parts/environment.js';
import { useLoad } from './shared/hooks.js';
import { type Me, CurrentUser } from './parts/for-role.js';
import { PurgePage } from './purge/purge-page.js';
import { PurgeDetails } from './purge/purge-details.js';
import { routeTo, useRoute } from './shared/router.js';
import { applyTheme, storedTheme, type Theme } from './shared/theme.js';
import { text } from './strings.js';

const SECTIONS = ['purge', 'history', 'retention', 'models', 'quality', 'workbench', 'overview'] as const;

const ModelsPage = later(async () => (await import('./models/models-page.js')).ModelsPage);
const QualityPage = later(async () => (await import('./quality/quality-page.js')).QualityPage);
const RetentionPage = later(async () => (await import('./retention/retention-page.js')).RetentionPage);
const WorkbenchPage = later(async () => (await import('./workbench/workbench-page.js')).WorkbenchPage);

/** The frame of the console, and the page for the current address. */
export function App() {
  const route = useRoute();
  const section = route.path[0] ?? 'purge';
  const main = useRef<HTMLElement>(null);
  const place = route.path.join('/');
  const last = useRef(place);
  useEffect(() => {
    const name = SECTIONS.find((one) => one === section);
    document.title = `${name === undefined ? '' : `${text.pages[name]} · `}${text.product}`;
    // Tells screen readers that there is a new page; the first page is announced anyway.
    if (last.current !== place) {
      main.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    last.current = place;
  }, [place, section]);
  const status = useLoad('environment', (signal) => api.json('get', '/status', { signal }));
  const me = useMe(status.value?.signIn !== undefined);
  return (
    <Environment.Provider value={status.value?.environment}>
      <CurrentUser.Provider value={me}>
        <a
          class="skip"
          href="#main"
          onClick={(event) => {
            event.preventDefault();
            main.current?.focus();
          }}
        >
          {text.skip}
        </a>
        <header>
          <p class="product">
            <span class="mark" aria-hidden="true" /> {text.product}
          </p>
          <EnvironmentInfo />
          <nav aria-label={text.navigation}>
            <ul>
              {SECTIONS.map((name) => (
                <li key={name}>
                  <a
                    href={routeTo([name])}
                    {...(name === section ? { 'aria-current': 'page' as const } : {})}
                  >
                    {text.pages[name]}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <div class="tools">
            <SignIn settings={status.value?.signIn} />
            <ForgetToken />
            <ThemeSwitch />
          </div>
        </header>
        <main id="main" ref={main} tabIndex={-1}>
          <PageOf route={route} />
        </main>
        {status.value !== undefined && (
          <footer>
            {text.product} {status.value.version}
          </footer>
        )}
        <TokenDialog signIn={status.value?.signIn} />
      </CurrentUser.Provider>
    </Environment.Provider>
  );
}

/** Returns the user of the console, if sign-in is on and somebody has signed in. */
function useMe(hasSignIn: boolean): Me | undefined {
  useCredentials();
  const credentials = accessToken() ?? token();
  const isKnown = hasSignIn && credentials !== undefined;
  return useLoad(isKnown ? credentials : undefined, (signal) => api.json('get', '/me', { signal })).value;
}

function PageOf({ route }: { readonly route: ReturnType<typeof useRoute> }) {
  const [section = 'purge', name] = route.path;
  switch (section) {
    case 'purge':
    case 'history':
      if (name !== undefined) return <PurgeDetails key={name} id={name} />;
      return section === 'purge' ? (
        <PurgePage key={route.visit} params={route.params} />
      ) : (
        <HistoryPage params={route.params} />
      );
    case 'retention':
      return <RetentionPage name={name} step={route.path[2]} params={route.params} />;
    case 'models':
      return <ModelsPage route={route} />;
    case 'quality':
      return <QualityPage id={name} policy={route.path[2]} params={route.params} />;
    case 'workbench':
      return <WorkbenchPage part={name} />;
    case 'overview':
      return <OverviewPage />;
    default:
      return <NotFoundPage />;
  }
}

/** Shown at an address that belongs to no page. */
function NotFoundPage() {
  return (
    <Page title={text.notFound.title} lead={text.notFound.detail} isNarrow>
      <p>
        <a href={routeTo(['purge'])}>{text.notFound.link}</a>
      </p>
    </Page>
  );
}

/** Shown if a part of the console cannot be loaded. Browsers remember that, so only loading everything again helps. */
function NotLoaded() {
  return (
    <section class="notice bad" role="alert">
      <h1>{text.state.notLoaded}</h1>
      <p>{text.state.notLoadedDetail}</p>
      <Button onClick={() => location.reload()} label={text.state.reload} />
    </section>
  );
}

function ForgetToken() {
  useCredentials();
  return token() !== undefined ? (
    <Button class="small" onClick={clearToken} label={text.token.forget} />
  ) : null;
}

function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  return (
    <label class="theme">
      <span>{text.theme.label}</span>
      <select
        value={theme}
        onChange={(event) => {
          const chosen = event.currentTarget.value as Theme;
          applyTheme(chosen);
          setTheme(chosen);
        }}
      >
        {(['system', 'light', 'dark'] as const).map((name) => (
          <option key={name} value={name}>
            {text.theme[name]}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A part of the console that is loaded when it is first shown, so that the first page does not have to wait for all others. */
function later<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | undefined;
  return function Later(props: Props) {
    const { error } = useLoad('', async () => {
      loaded ??= await load();
    });
    if (loaded !== undefined) return h(loaded, props);
    return <div class="page">{error === undefined ? <Loading /> : <NotLoaded />}</div>;
  };
}
