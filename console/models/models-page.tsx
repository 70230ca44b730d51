import type { Route } from '../shared/router.js';
import { ContextsPage } from './contexts-page.js';
import { DomainPage } from './domain-page.js';
import { DomainListPage } from './domain-list.js';
import { ImportPage } from './import-page.js';
import { ModelPage } from './model-page.js';
import { NewModelPage } from './new-model.js';
import { CONTEXTS, IMPORT, NEW_MODEL, REFERENCES } from './routes.js';
import { ReferencesPage } from './references-page.js';

/** The models section: domains and search, or the page that the address names. */
export function ModelsPage({ route: { path, params } }: { readonly route: Route }) {
  const [, place, name, part] = path;
  switch (place) {
    case undefined:
      return <DomainListPage params={params} />;
    case NEW_MODEL:
      return <NewModelPage params={params} />;
    case IMPORT:
      return <ImportPage params={params} />;
    case CONTEXTS:
      return <ContextsPage name={name} step={part} params={params} />;
    case REFERENCES:
      return <ReferencesPage uri={name} params={params} />;
    default:
      if (name === undefined) return <DomainPage key={place} name={place} params={params} />;
      return <ModelPage key={`${place}/${name}`} domain={place} name={name} part={part} params={params} />;
  }
}
