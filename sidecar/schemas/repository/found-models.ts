import { isResourceName, RESOURCE_NAME_RULE } from '../../shared/resource-name.js';
import { byPath, type RefusedFile } from './collector.js';
import { RepositoryUnclearError } from './errors.js';
import { fileNameOf, folderOf } from './file-paths.js';
import type { PlannedModel } from './import-plan.js';
import type { Links } from './links.js';
import { EXPORTED_MODEL, type InnerFile, type SortedFiles } from './sorted-files.js';

export interface Naming {
  readonly isExport: boolean;
  readonly domain: string | undefined;
  /** Of the one model that is looked for. */
  readonly name: string | undefined;
  readonly refused: RefusedFile[];
  readonly sorted: SortedFiles;
  readonly links: Links;
}

export interface FoundModel {
  readonly planned: PlannedModel;
  readonly contextFile: InnerFile | undefined;
}

const NO_DOMAIN = 'Nothing says which domain it belongs to, such as a $id: name one by the parameter domain.';

/** Gives models their names; a name that two files claim is refused, since nothing says which is meant. */
export function namedModels(files: readonly InnerFile[], naming: Naming): readonly FoundModel[] {
  const { isExport, domain, refused, sorted, links } = naming;
  const domains = new Set(
    isExport ? files.flatMap(({ inner }) => EXPORTED_MODEL.exec(inner)?.[1] ?? []) : [],
  );
  if (domain !== undefined && domains.size > 1)
    throw new RepositoryUnclearError(
      `It holds several domains (${[...domains].join(', ')}): leave the parameter domain out.`,
    );
  const examples = sorted.examplesIn(new Set(files.map(({ inner }) => folderOf(inner))));
  const claims = new Map<string, FoundModel[]>();
  const homeless: RefusedFile[] = [];
  for (const file of [...files].sort((one, other) => byPath(one.file, other.file))) {
    const { inner } = file;
    const { path, facts } = file.file;
    const exported = EXPORTED_MODEL.exec(inner);
    const folder = fileNameOf(folderOf(inner).slice(0, -1));
    const hasFolder = fileNameOf(inner) === 'schema.json';
    const name = naming.name ?? (hasFolder && isResourceName(folder) ? folder : (facts.title ?? ''));
    if (!isResourceName(name)) {
      const reason = `A model is named by the folder of its schema.json, or else by its title; neither is a name (${RESOURCE_NAME_RULE}).`;
      refused.push({ path, reason });
      continue;
    }
    const repository = links.repositoryOf(inner);
    const into = domain ?? exported?.[1] ?? repository?.name;
    if (into === undefined || !isResourceName(into)) {
      homeless.push({ path, reason: NO_DOMAIN });
      continue;
    }
    const key = `${into}/${name}`;
    const exportedName = exported === null ? undefined : `${exported[1]}/${name}`;
    const versions = sorted.versionsOf(exportedName);
    const settings = sorted.settingsOf(exportedName);
    const contextFile = settings === undefined ? sorted.nearestContext(inner, name) : undefined;
    const id = links.ids.get(inner);
    const planned: PlannedModel = {
      path,
      domain: into,
      name,
      ...(id === undefined ? {} : { id }),
      ...(contextFile === undefined ? {} : { context: contextFile.file.path }),
      ...(settings === undefined ? {} : { settings: settings.file.path }),
      versions: versions.map((one) => one.file.path),
      examples: hasFolder ? (examples.get(folderOf(inner)) ?? []) : [],
    };
    const model = { planned, contextFile };
    const claimed = claims.get(key);
    if (claimed === undefined) claims.set(key, [model]);
    else claimed.push(model);
  }
  if (claims.size === 0 && homeless.length > 0) throw new RepositoryUnclearError(NO_DOMAIN);
  refused.push(...homeless);
  return [...claims.values()].flatMap((claimed) => {
    if (claimed.length === 1) return claimed;
    const paths = claimed.map(({ planned }) => planned.path);
    for (const {
      planned: { path, name },
    } of claimed)
      refused.push({
        path,
        reason: `${paths.find((other) => other !== path)} is named ${name} as well; a domain has one model of a name, so neither is stored.`,
      });
    return [];
  });
}
