/** The API, generated from its openapi.json by `npm run client-types`, do not edit. */

export interface paths {
  readonly '/domains': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** List domains */
    readonly get: operations['listDomains'];
    readonly put?: never;
    /** Create a domain */
    readonly post: operations['createDomain'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** Read a domain */
    readonly get: operations['getDomain'];
    /**
     * Update a domain
     * @description Its compatibility holds at once for its models that have none of their own.
     */
    readonly put: operations['updateDomain'];
    readonly post?: never;
    /**
     * Delete a domain
     * @description Refused while it holds models, unless cascade=true.
     */
    readonly delete: operations['deleteDomain'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}/context': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * One context for all models of a domain
     * @description A term that models mean differently is left out: the header Link (describedby) then leads to warnings. The same is served as the context of the name of the domain.
     */
    readonly get: operations['getDomainContext'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    /** Reads that scripts of other origins may send (CORS) */
    readonly options: operations['getDomainContextPreflight'];
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}/context/warnings': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** What may not be as expected in the context of a domain */
    readonly get: operations['listDomainContextWarnings'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/models': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Search the models of all domains
     * @description Models that meet all of the parameters; all models without any.
     */
    readonly get: operations['searchModels'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}/models': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** List the models of a domain */
    readonly get: operations['listModels'];
    readonly put?: never;
    /**
     * Create a model from a JSON Schema
     * @description Documents that its `$ref`s name are taken from the references, else fetched once from allowed origins.
     */
    readonly post: operations['createModel'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}/models/{model}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** Read a model at its current version, or at another */
    readonly get: operations['getModel'];
    /**
     * Update a model, or create it
     * @description Makes a new version if the schema, a document that it refers to, or the context has changed; that of a draft takes the place of the one before it. Without a schema, the model keeps its own.
     */
    readonly put: operations['updateModel'];
    readonly post?: never;
    /** Delete a model, all its versions and its context */
    readonly delete: operations['deleteModel'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}/models/{model}/versions': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** List the versions of a model */
    readonly get: operations['listModelVersions'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}/models/{model}/versions/diff': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** Compare two versions of a model */
    readonly get: operations['diffModelVersions'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}/models/{model}/schema': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** The JSON Schema of a model */
    readonly get: operations['getModelSchema'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}/models/{model}/openapi': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** OpenAPI 3.1 of NGSI-LD on entities of a model */
    readonly get: operations['getModelOpenapi'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}/models/{model}/context': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** The JSON-LD context of a model */
    readonly get: operations['getModelContext'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    /** Reads that scripts of other origins may send (CORS) */
    readonly options: operations['getModelContextPreflight'];
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}/models/{model}/files': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** List the files of a model */
    readonly get: operations['listModelFiles'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}/models/{model}/files/{file}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** One file of a model */
    readonly get: operations['getModelFile'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}/models/{model}/examples': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** List the examples of a model */
    readonly get: operations['listModelExamples'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/domains/{domain}/models/{model}/examples/{example}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** An example of a model */
    readonly get: operations['getModelExample'];
    /**
     * Store an example, or replace one
     * @description It is validated by the current version of the model, and stored whether it is valid or not: the answer says what is wrong. If the name ends with `.json`, what NGSI-LD alone forbids is a warning. The model keeps its version.
     */
    readonly put: operations['putModelExample'];
    readonly post?: never;
    /** Delete an example of a model */
    readonly delete: operations['deleteModelExample'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/contexts': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** List contexts */
    readonly get: operations['listContexts'];
    readonly put?: never;
    /** Create a custom context */
    readonly post: operations['createContext'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/contexts/{context}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** A context as clients and brokers use it */
    readonly get: operations['getContext'];
    /**
     * Make a new version of a custom context
     * @description It reaches the contexts and models that follow this one at once. Refused where one of them could not be processed any more.
     */
    readonly put: operations['updateContext'];
    readonly post?: never;
    /**
     * Delete a custom context
     * @description Refused while another context or a model uses it.
     */
    readonly delete: operations['deleteContext'];
    /** Reads that scripts of other origins may send (CORS) */
    readonly options: operations['getContextPreflight'];
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/references': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** Read a reference document, or list them */
    readonly get: operations['getReferences'];
    /**
     * Store a reference document, or replace one
     * @description Versions of models keep the document that they were made with. With dependents=true, each model that was made with it is given a version with the new one.
     */
    readonly put: operations['putReference'];
    readonly post?: never;
    /**
     * Delete a reference document
     * @description Refused while a version of a model was made with it, or another document names it.
     */
    readonly delete: operations['deleteReference'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/export': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Export a domain, or everything
     * @description An archive that an import takes; the same for the same content.
     */
    readonly get: operations['exportModels'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/workbench/schema/infer': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Infer a JSON Schema from samples
     * @description The schema accepts every sample, does not depend on their order, and can be posted as a model.
     */
    readonly post: operations['inferSchema'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/workbench/jsonld/expand': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Expand JSON-LD
     * @description Contexts may be stored here, bundled, or of an allowed origin.
     */
    readonly post: operations['expandJsonLd'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/workbench/jsonld/compact': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Compact JSON-LD
     * @description Contexts may be stored here, bundled, or of an allowed origin.
     */
    readonly post: operations['compactJsonLd'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/validate': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Validate an entity, or several, against the models of their types
     * @description Of several types, each one that has a model is checked. A type that has several models is 409.
     */
    readonly post: operations['validateByType'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/validate/{domain}/{model}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Validate an entity, or several, against a model
     * @description Checks the structure by NGSI-LD, then the values by the schema.
     */
    readonly post: operations['validateEntity'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/purges': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** List purges, the newest first */
    readonly get: operations['listPurges'];
    readonly put?: never;
    /**
     * Start a purge
     * @description The same as the DELETE of a collection with `Prefer: respond-async`.
     */
    readonly post: operations['startPurge'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/purges/{purge}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** Read the record of a purge */
    readonly get: operations['getPurge'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    /**
     * Change how hard a purge works
     * @description While it waits or runs, and never above what its policy and the configuration allow.
     */
    readonly patch: operations['changePurge'];
    readonly trace?: never;
  };
  readonly '/purges/{purge}/cancel': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Cancel a purge
     * @description No new deletes are sent, and those in flight finish. A purge that has ended stays as it is.
     */
    readonly post: operations['cancelPurge'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/purges/{purge}/events': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Watch a purge by server-sent events
     * @description The record now, and on each change, at most four times a second. The stream ends with the final record, or when the access token of its request expires.
     */
    readonly get: operations['watchPurge'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/purges/{purge}/ids': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read what a purge deleted
     * @description Of a purge with `record=ids`. Where an item has several lines, the last one holds.
     */
    readonly get: operations['getPurgedIds'];
    readonly put?: never;
    readonly post?: never;
    /**
     * Remove the list of what a purge deleted
     * @description Its record is kept.
     */
    readonly delete: operations['deletePurgedIds'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/purges/{purge}/restore': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Restore what a purge archived
     * @description A job of its own, with a record under /purges. What is there is never overwritten. createdAt, modifiedAt and ids of instances are new.
     */
    readonly post: operations['restorePurge'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/purges/{purge}/archive': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read what a purge archived
     * @description One entity a line, as the broker gave it. Of a purge of attributes or instances, a line has these alone, with id and type.
     */
    readonly get: operations['getPurgeArchive'];
    readonly put?: never;
    readonly post?: never;
    /**
     * Erase what a purge archived
     * @description Its record is kept, and says so. The purge can no longer be undone.
     */
    readonly delete: operations['erasePurgeArchive'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/scans': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List scans, the newest first
     * @description Their findings are left out.
     */
    readonly get: operations['listScans'];
    readonly put?: never;
    /**
     * Start a scan
     * @description Judges every entity that a GET of the query would show, and deletes nothing: by one model, by a schema, or by the models of their types.
     */
    readonly post: operations['startScan'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/scans/{scan}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** Read the record of a scan */
    readonly get: operations['getScan'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    /**
     * Change how fast a scan works
     * @description While it waits or runs.
     */
    readonly patch: operations['changeScan'];
    readonly trace?: never;
  };
  readonly '/scans/{scan}/cancel': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Cancel a scan
     * @description What it has found until then is kept. A scan that has ended stays as it is.
     */
    readonly post: operations['cancelScan'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/scans/{scan}/events': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Watch a scan by server-sent events
     * @description The record now, and on each change, at most four times a second. The stream ends with the final record, or when the access token of its request expires.
     */
    readonly get: operations['watchScan'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/scans/{scan}/entities': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List the entities of a finding
     * @description Those that are kept: at most 10,000 of one finding, and 100,000 of a scan. With `Accept: application/x-ndjson`, all of them, one a line.
     */
    readonly get: operations['listFoundEntities'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/retention-policies': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** List retention policies */
    readonly get: operations['listRetentionPolicies'];
    readonly put?: never;
    /**
     * Create a retention policy
     * @description It reports what it would delete, unless its mode is `enforce`.
     */
    readonly post: operations['createRetentionPolicy'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/retention-policies/{retentionPolicy}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** Read a retention policy */
    readonly get: operations['getRetentionPolicy'];
    /**
     * Create a retention policy, or replace one
     * @description Members that are left out get their defaults.
     */
    readonly put: operations['putRetentionPolicy'];
    readonly post?: never;
    /**
     * Delete a retention policy
     * @description A run that is under way goes on, and the records of its runs are kept.
     */
    readonly delete: operations['deleteRetentionPolicy'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/retention-policies/{retentionPolicy}/preview': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** Count what a retention policy matches now */
    readonly get: operations['previewRetentionPolicy'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/retention-policies/preview': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Count what a retention policy would match, and save nothing
     * @description With the name of a policy, its earlier runs say whether more match than maxGrowth allows.
     */
    readonly post: operations['previewRetentionSettings'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/retention-policies/{retentionPolicy}/run': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Run a retention policy now
     * @description In its own mode, and also when it is disabled. With `If-Match` only as it was read.
     */
    readonly post: operations['runRetentionPolicy'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/retention-policies/{retentionPolicy}/runs': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** List the runs of a retention policy, the newest first */
    readonly get: operations['listRetentionRuns'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/write-policies': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** List write policies */
    readonly get: operations['listWritePolicies'];
    readonly put?: never;
    /**
     * Create a write policy
     * @description It holds at once in the gateway that answers, and within two seconds in others on the same database.
     */
    readonly post: operations['createWritePolicy'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/write-policies/{writePolicy}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** Read a write policy */
    readonly get: operations['getWritePolicy'];
    /**
     * Create a write policy, or replace one
     * @description Members that are left out get their defaults.
     */
    readonly put: operations['putWritePolicy'];
    readonly post?: never;
    /** Delete a write policy */
    readonly delete: operations['deleteWritePolicy'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/write-checks': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * What the checks of writes have found
     * @description Since the gateway that answers has started; each one of several counts for itself.
     */
    readonly get: operations['getWriteChecks'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/status': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read whether broker and database answer, and what was learnt about the broker
     * @description The same as /health/ready, with status 200 in any case.
     */
    readonly get: operations['getStatus'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/me': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read who you are to the gateway, and which roles and tenants you have
     * @description Where nobody signs in, you have all of them.
     */
    readonly get: operations['getMe'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/openapi.json': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** This API as OpenAPI 3.1 */
    readonly get: operations['getOpenapi'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    /** Reads that scripts of other origins may send (CORS) */
    readonly options: operations['getOpenapiPreflight'];
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/import': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Import a repository of data models
     * @description Finds schemas, the documents that they share, contexts and examples, and stores them in order. The same again changes nothing. Files that are refused do not stop the others.
     */
    readonly post: operations['importModels'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/ngsi-ld/v1/entities': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    readonly post?: never;
    /**
     * Purge entities, or attributes of them
     * @description What the same GET would show is deleted. `Prefer: respond-async` makes it a job.
     */
    readonly delete: operations['purgeEntities'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/ngsi-ld/v1/temporal/entities': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    readonly post?: never;
    /**
     * Purge the history of entities, or parts of it
     * @description What the same GET would show is deleted. `Prefer: respond-async` makes it a job.
     */
    readonly delete: operations['purgeTemporalEntities'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /** ListedDomain */
    readonly ListedDomain: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /**
       * @description Of models that have none of their own; `none` when left out.
       * @enum {unknown}
       */
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
      /** @description How many models it holds. */
      readonly models: number;
    };
    /** Difference */
    readonly Difference: {
      /** @description Into the new schema, or into the old one for a removed part (RFC 6901). */
      readonly pointer: string;
      /**
       * @description `narrowing`: may reject entities that were valid before; `breaking`: rejects some of them, or changes what they mean.
       * @enum {unknown}
       */
      readonly class: 'compatible' | 'narrowing' | 'breaking';
      /**
       * @description `meaning`: stored data would be read otherwise; `unproven`: the comparison could not tell.
       * @enum {unknown}
       */
      readonly reason:
        | 'meaning'
        | 'required'
        | 'property'
        | 'type'
        | 'values'
        | 'range'
        | 'format'
        | 'structure'
        | 'unproven';
      readonly detail: string;
      /** @description An entity in key-values form that was valid, and is refused because of the difference. */
      readonly witness?: unknown;
    };
    /** ChangeReport */
    readonly ChangeReport: {
      /**
       * @description `narrowing`: may reject entities that were valid before; `breaking`: rejects some of them, or changes what they mean.
       * @enum {unknown}
       */
      readonly overall: 'compatible' | 'narrowing' | 'breaking';
      readonly differences: readonly components['schemas']['Difference'][];
    };
    /** Problem */
    readonly Problem: {
      /** Format: uri */
      readonly type: string;
      readonly title: string;
      readonly status: number;
      readonly detail: string;
      /** Format: uri-reference */
      readonly instance: string;
      /** @description The faults of the body, with JSON pointers (RFC 6901). */
      readonly errors?: readonly {
        readonly pointer: string;
        readonly detail: string;
      }[];
      /** @description Line of the first character that cannot be read, from 1. */
      readonly line?: number;
      /** @description Column of it, from 1, in UTF-16 units. */
      readonly column?: number;
      /** @description URL of the context at fault. */
      readonly url?: string;
      /** @description The query parameter at fault. */
      readonly parameter?: string;
      /** @description URIs of the missing documents. */
      readonly missing?: readonly string[];
      readonly report?: components['schemas']['ChangeReport'];
      /** @description The first of the `total` resources that use this one. */
      readonly dependents?: readonly Record<string, unknown>[];
      readonly total?: number;
    };
    /** NewDomain */
    readonly NewDomain: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /**
       * @description Of models that have none of their own; `none` when left out.
       * @enum {unknown}
       */
      readonly compatibility?: 'none' | 'backward' | 'forward' | 'full';
    };
    /** Domain */
    readonly Domain: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /**
       * @description Of models that have none of their own; `none` when left out.
       * @enum {unknown}
       */
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
    };
    /**
     * DomainChange
     * @description A member that is left out keeps its value; null removes it.
     */
    readonly DomainChange: {
      readonly description?: string | null;
      /**
       * @description Of models that have none of their own; `none` when left out.
       * @enum {unknown}
       */
      readonly compatibility?: 'none' | 'backward' | 'forward' | 'full' | null;
    };
    /** DomainContextWarning */
    readonly DomainContextWarning: {
      /** @enum {unknown} */
      readonly code: 'ambiguous-term' | 'coercion-left-out' | 'unused-terms-left-out' | 'context-unavailable';
      readonly term?: string;
      readonly detail: string;
      /** @description Names of the models that it is about. */
      readonly models: readonly string[];
    };
    /** ModelSummary */
    readonly ModelSummary: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly domain: string;
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /** @description Base IRI of the terms of its context, where it has its own. */
      readonly contextBase?: string;
      /**
       * @description `backward`: an update that may reject, or change the meaning of, entities that were valid before is refused; `forward`: one after which entities may be valid that the version before rejects; `full`: both.
       * @enum {unknown}
       */
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      /**
       * @description `draft`: an update replaces its version; `deprecated`: reads have the header Deprecation.
       * @enum {unknown}
       */
      readonly status: 'draft' | 'published' | 'deprecated';
      /**
       * Format: date-time
       * @description Since when it is deprecated.
       */
      readonly deprecatedAt?: string;
      /**
       * Format: date-time
       * @description When it will be removed, where that is known.
       */
      readonly sunset?: string;
      /** @description Number of the version: the current one if none was asked for. */
      readonly version: number;
      /** @description Name of the context that is generated from it. */
      readonly contextName: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
    };
    /** NewModel */
    readonly NewModel: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /** @description A JSON Schema (draft-04, draft-06, draft-07, 2019-09 or 2020-12) of an entity in key-values form. */
      readonly schema: unknown;
      /** @description Base IRI of the terms of its context: http, https or urn, ending with a separator. Without one, the setting CONTEXT_BASE_IRI. */
      readonly contextBase?: string;
      /** @description Terms that win over generated ones: a map of terms, an array of maps, URLs and names, the name of a stored context, or the URL of one that is stored here or of an allowed origin. */
      readonly context?: Record<string, unknown> | readonly unknown[] | string;
      /**
       * @description `backward`: an update that may reject, or change the meaning of, entities that were valid before is refused; `forward`: one after which entities may be valid that the version before rejects; `full`: both.
       * @enum {unknown}
       */
      readonly compatibility?: 'none' | 'backward' | 'forward' | 'full';
      /**
       * @description `draft`: an update replaces its version; `deprecated`: reads have the header Deprecation.
       * @default published
       * @enum {unknown}
       */
      readonly status?: 'draft' | 'published' | 'deprecated';
      /** @description When it will be removed: a date and time (RFC 3339). */
      readonly sunset?: string;
    };
    /** ModelWarning */
    readonly ModelWarning: {
      /** @enum {unknown} */
      readonly code:
        | 'core-term'
        | 'encoded'
        | 'no-term'
        | 'other-type'
        | 'coercion'
        | 'core-context-not-last'
        | 'no-iri'
        | 'reserved-term'
        | 'scoped-context'
        | 'undefined-prefix'
        | 'vocab';
      /** @description The name that the warning is about. */
      readonly term: string;
      readonly detail: string;
    };
    /** ModelDryRun */
    readonly ModelDryRun: {
      /** @constant */
      readonly dryRun: true;
      /**
       * @description `settings`: changed without a new version; `version`: a new version; `replaced`: the version of a draft is another one.
       * @enum {unknown}
       */
      readonly outcome: 'created' | 'unchanged' | 'settings' | 'version' | 'replaced';
      /** @description Number of the version that the schema would have. */
      readonly version: number;
      readonly change: components['schemas']['ChangeReport'];
      readonly warnings: readonly components['schemas']['ModelWarning'][];
    };
    /** Model */
    readonly Model: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly domain: string;
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /** @description Base IRI of the terms of its context, where it has its own. */
      readonly contextBase?: string;
      /**
       * @description `backward`: an update that may reject, or change the meaning of, entities that were valid before is refused; `forward`: one after which entities may be valid that the version before rejects; `full`: both.
       * @enum {unknown}
       */
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      /**
       * @description `draft`: an update replaces its version; `deprecated`: reads have the header Deprecation.
       * @enum {unknown}
       */
      readonly status: 'draft' | 'published' | 'deprecated';
      /**
       * Format: date-time
       * @description Since when it is deprecated.
       */
      readonly deprecatedAt?: string;
      /**
       * Format: date-time
       * @description When it will be removed, where that is known.
       */
      readonly sunset?: string;
      /** @description Number of the version: the current one if none was asked for. */
      readonly version: number;
      /** @description Name of the context that is generated from it. */
      readonly contextName: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
      /**
       * @description The draft of its JSON Schema.
       * @enum {unknown}
       */
      readonly dialect: 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12';
      /** @description The JSON Schema, as it was given. */
      readonly schema: unknown;
      /** @description The JSON-LD context that it was given, where it has its own. */
      readonly context?: unknown;
      /** @description URIs of the documents that the schema refers to. */
      readonly references: readonly string[];
      readonly warnings: readonly components['schemas']['ModelWarning'][];
    };
    /**
     * ModelChange
     * @description A member that is left out keeps its value; null removes it. A model that is not there yet needs a schema.
     */
    readonly ModelChange: {
      /** @description A JSON Schema (draft-04, draft-06, draft-07, 2019-09 or 2020-12) of an entity in key-values form. */
      readonly schema?: unknown;
      readonly description?: string | null;
      /** @description Base IRI of the terms of its context: http, https or urn, ending with a separator. Without one, the setting CONTEXT_BASE_IRI. */
      readonly contextBase?: string | null;
      /** @description Terms that win over generated ones: a map of terms, an array of maps, URLs and names, the name of a stored context, or the URL of one that is stored here or of an allowed origin. */
      readonly context?: Record<string, unknown> | readonly unknown[] | string | null;
      /**
       * @description `backward`: an update that may reject, or change the meaning of, entities that were valid before is refused; `forward`: one after which entities may be valid that the version before rejects; `full`: both.
       * @enum {unknown}
       */
      readonly compatibility?: 'none' | 'backward' | 'forward' | 'full' | null;
      /**
       * @description `draft`: an update replaces its version; `deprecated`: reads have the header Deprecation.
       * @enum {unknown}
       */
      readonly status?: 'draft' | 'published' | 'deprecated';
      /** @description When it will be removed: a date and time (RFC 3339). */
      readonly sunset?: string | null;
    };
    /** UpdatedModel */
    readonly UpdatedModel: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly domain: string;
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      readonly description?: string;
      /** @description Base IRI of the terms of its context, where it has its own. */
      readonly contextBase?: string;
      /**
       * @description `backward`: an update that may reject, or change the meaning of, entities that were valid before is refused; `forward`: one after which entities may be valid that the version before rejects; `full`: both.
       * @enum {unknown}
       */
      readonly compatibility: 'none' | 'backward' | 'forward' | 'full';
      /**
       * @description `draft`: an update replaces its version; `deprecated`: reads have the header Deprecation.
       * @enum {unknown}
       */
      readonly status: 'draft' | 'published' | 'deprecated';
      /**
       * Format: date-time
       * @description Since when it is deprecated.
       */
      readonly deprecatedAt?: string;
      /**
       * Format: date-time
       * @description When it will be removed, where that is known.
       */
      readonly sunset?: string;
      /** @description Number of the version: the current one if none was asked for. */
      readonly version: number;
      /** @description Name of the context that is generated from it. */
      readonly contextName: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
      /**
       * @description The draft of its JSON Schema.
       * @enum {unknown}
       */
      readonly dialect: 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12';
      /** @description The JSON Schema, as it was given. */
      readonly schema: unknown;
      /** @description The JSON-LD context that it was given, where it has its own. */
      readonly context?: unknown;
      /** @description URIs of the documents that the schema refers to. */
      readonly references: readonly string[];
      readonly warnings: readonly components['schemas']['ModelWarning'][];
      /**
       * @description `settings`: changed without a new version; `version`: a new version; `replaced`: the version of a draft is another one.
       * @enum {unknown}
       */
      readonly outcome: 'created' | 'unchanged' | 'settings' | 'version' | 'replaced';
      readonly change: components['schemas']['ChangeReport'];
    };
    /** ModelVersion */
    readonly ModelVersion: {
      readonly version: number;
      /** Format: date-time */
      readonly createdAt: string;
      /** @description The model's description when the version was made. */
      readonly description?: string;
      /**
       * @description The draft of its JSON Schema.
       * @enum {unknown}
       */
      readonly dialect: 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12';
      /** @description Of the stored schema. */
      readonly sha256: string;
      /** @description Of the stored schema, in bytes. */
      readonly size: number;
      /**
       * @description `narrowing`: may reject entities that were valid before; `breaking`: rejects some of them, or changes what they mean.
       * @enum {unknown}
       */
      readonly change?: 'compatible' | 'narrowing' | 'breaking';
      /** @description Who made it; not given where the update of a document did. */
      readonly caller?: string;
      readonly references: readonly string[];
    };
    /** ChangedPointer */
    readonly ChangedPointer: {
      /** @enum {unknown} */
      readonly op: 'add' | 'remove' | 'replace';
      /** @description Into the schema of `to`, or into that of `from` for what is removed. */
      readonly pointer: string;
    };
    /** ModelDiff */
    readonly ModelDiff: {
      readonly from: number;
      readonly to: number;
      readonly change: components['schemas']['ChangeReport'];
      /** @description Where the schemas differ as they were given, annotations included; at most 1,000. */
      readonly pointers: readonly components['schemas']['ChangedPointer'][];
      /** @description In how many places they differ. */
      readonly pointersTotal: number;
    };
    /** ModelFile */
    readonly ModelFile: {
      readonly name: string;
      readonly mediaType: string;
      /** @description In bytes. */
      readonly size: number;
      readonly sha256: string;
      /** @description What the `$ref`s say, for a document that the schema refers to. */
      readonly uri?: string;
      /**
       * Format: uri
       * @description Where the file is.
       */
      readonly url: string;
    };
    /** ModelExample */
    readonly ModelExample: {
      /** @description a letter or digit, up to 121 letters, digits and _ . -, then .json or .jsonld. */
      readonly name: string;
      /**
       * @description The representation of the entity, where it is known.
       * @enum {unknown}
       */
      readonly form?: 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';
      /** @description In bytes. */
      readonly size: number;
      readonly sha256: string;
      /**
       * Format: uri
       * @description Where the example is.
       */
      readonly url: string;
    };
    /**
     * Entities
     * @description An entity: NGSI-LD normalized, concise, key-values or GeoJSON, or NGSIv2 normalized; or several.
     */
    readonly Entities: Record<string, unknown> | readonly Record<string, unknown>[];
    /**
     * Suggestion
     * @description What was probably meant: the value at the pointer, or the name of the member that it ends with.
     */
    readonly Suggestion:
      | {
          readonly value: string | number | boolean;
        }
      | {
          readonly name: string;
        };
    /** EntityError */
    readonly EntityError: {
      readonly pointer: string;
      readonly line: number;
      readonly column: number;
      readonly detail: string;
      readonly keyword: string;
      readonly suggestion?: components['schemas']['Suggestion'];
    };
    /** PutModelExample */
    readonly PutModelExample: {
      /** @description a letter or digit, up to 121 letters, digits and _ . -, then .json or .jsonld. */
      readonly name: string;
      /**
       * @description The representation of the entity, where it is known.
       * @enum {unknown}
       */
      readonly form?: 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';
      /** @description In bytes. */
      readonly size: number;
      readonly sha256: string;
      /**
       * Format: uri
       * @description Where the example is.
       */
      readonly url: string;
      /** @description By the current version of the model. */
      readonly valid: boolean;
      /** @description The first 100 of them. */
      readonly errors: readonly components['schemas']['EntityError'][];
    };
    /** Context */
    readonly Context: {
      readonly name: string;
      /**
       * @description `generated` from a model, or from the models of a domain; `core`: comes with this product.
       * @enum {unknown}
       */
      readonly kind: 'custom' | 'generated' | 'core';
      /** @description Number of the current version; that of a domain has none. */
      readonly version?: number;
      /**
       * Format: uri
       * @description By which clients and brokers name it.
       */
      readonly url: string;
      /**
       * Format: uri
       * @description Of a core context: where it is published.
       */
      readonly canonicalUrl?: string;
      /** Format: date-time */
      readonly createdAt?: string;
      /** Format: date-time */
      readonly modifiedAt?: string;
    };
    /** NewContext */
    readonly NewContext: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      /** @description A map of terms, an array of maps and URLs, a URL, or an object that holds one as `@context`. */
      readonly '@context': unknown;
    };
    /** ContextWarning */
    readonly ContextWarning: {
      readonly code: string;
      readonly pointer: string;
      readonly detail: string;
    };
    /** UpdatedDependent */
    readonly UpdatedDependent: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly domain: string;
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly model: string;
      /** @enum {unknown} */
      readonly status: 'updated' | 'unchanged' | 'refused';
      /**
       * @description `narrowing`: may reject entities that were valid before; `breaking`: rejects some of them, or changes what they mean.
       * @enum {unknown}
       */
      readonly change?: 'compatible' | 'narrowing' | 'breaking';
      readonly differences?: readonly components['schemas']['Difference'][];
      readonly reason?: string;
    };
    /** ContextDryRun */
    readonly ContextDryRun: {
      /** @constant */
      readonly dryRun: true;
      /** @enum {unknown} */
      readonly status: 'created' | 'updated' | 'unchanged';
      readonly warnings: readonly components['schemas']['ContextWarning'][];
      /** @description Models that use a changed document or follow a changed context, and what happens to them. */
      readonly dependents: readonly components['schemas']['UpdatedDependent'][];
    };
    /** WrittenContext */
    readonly WrittenContext: {
      readonly name: string;
      /**
       * @description `generated` from a model, or from the models of a domain; `core`: comes with this product.
       * @enum {unknown}
       */
      readonly kind: 'custom' | 'generated' | 'core';
      /** @description Number of the current version; that of a domain has none. */
      readonly version: number;
      /**
       * Format: uri
       * @description By which clients and brokers name it.
       */
      readonly url: string;
      /**
       * Format: uri
       * @description Of a core context: where it is published.
       */
      readonly canonicalUrl?: string;
      /** Format: date-time */
      readonly createdAt?: string;
      /** Format: date-time */
      readonly modifiedAt?: string;
      readonly warnings: readonly components['schemas']['ContextWarning'][];
      /** @description Models that use a changed document or follow a changed context, and what happens to them. */
      readonly dependents: readonly components['schemas']['UpdatedDependent'][];
    };
    /** ContextChange */
    readonly ContextChange: {
      /** @description A map of terms, an array of maps and URLs, a URL, or an object that holds one as `@context`. */
      readonly '@context': unknown;
    };
    /** Reference */
    readonly Reference: {
      readonly uri: string;
      /**
       * @description `fetched`: was missing when a schema named it, and came from an allowed origin.
       * @enum {unknown}
       */
      readonly source: 'stored' | 'fetched';
      /** @description In bytes. */
      readonly size: number;
      readonly sha256: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
    };
    /** PutReference */
    readonly PutReference: {
      readonly uri: string;
      /**
       * @description `fetched`: was missing when a schema named it, and came from an allowed origin.
       * @enum {unknown}
       */
      readonly source: 'stored' | 'fetched';
      /** @description In bytes. */
      readonly size: number;
      readonly sha256: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
      /** @description Models that use a changed document or follow a changed context, and what happens to them. */
      readonly dependents?: readonly components['schemas']['UpdatedDependent'][];
    };
    /** ReferenceDryRun */
    readonly ReferenceDryRun: {
      /** @constant */
      readonly dryRun: true;
      /** @enum {unknown} */
      readonly status: 'created' | 'updated' | 'unchanged';
      /** @description Models that use a changed document or follow a changed context, and what happens to them. */
      readonly dependents: readonly components['schemas']['UpdatedDependent'][];
    };
    /**
     * Samples
     * @description One sample, or several.
     */
    readonly Samples: Record<string, unknown> | readonly Record<string, unknown>[];
    /** Expand */
    readonly Expand: {
      /** @description JSON-LD: an object, or an array of them. A URL is not loaded. */
      readonly document: Record<string, unknown> | readonly unknown[];
      /** @description Applied before that of the document. A map of terms, a URL, an array of these, null, or an object that holds one as `@context`. */
      readonly context?: Record<string, unknown> | string | readonly unknown[] | null;
      /**
       * @description Refuse (422) a document of which data would be dropped, instead of warning.
       * @default false
       */
      readonly safe?: boolean;
    };
    /** JsonLdWarning */
    readonly JsonLdWarning: {
      readonly code: string;
      readonly detail: string;
      readonly pointer?: string;
    };
    /** JsonLdResult */
    readonly JsonLdResult: {
      /** @description JSON-LD. */
      readonly result: Record<string, unknown> | readonly unknown[];
      readonly warnings: readonly components['schemas']['JsonLdWarning'][];
    };
    /** Compact */
    readonly Compact: {
      /** @description JSON-LD: an object, or an array of them. A URL is not loaded. */
      readonly document: Record<string, unknown> | readonly unknown[];
      /** @description To compact with; the document's own if left out. A map of terms, a URL, an array of these, null, or an object that holds one as `@context`. */
      readonly context?: Record<string, unknown> | string | readonly unknown[] | null;
      /**
       * @description Refuse (422) a document of which data would be dropped, instead of warning.
       * @default false
       */
      readonly safe?: boolean;
    };
    /** EntityWarning */
    readonly EntityWarning: {
      readonly pointer: string;
      readonly line: number;
      readonly column: number;
      readonly detail: string;
      readonly code: string;
      readonly suggestion?: components['schemas']['Suggestion'];
    };
    /** Verdict */
    readonly Verdict: {
      readonly valid: boolean;
      /** @description domain/model of each model, where none was named. */
      readonly models?: readonly string[];
      /**
       * @description The representation in which the entity was read.
       * @enum {unknown}
       */
      readonly form: 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';
      readonly errors: readonly components['schemas']['EntityError'][];
      readonly warnings: readonly components['schemas']['EntityWarning'][];
    };
    /**
     * Verdicts
     * @description One result, or one for each entity in order.
     */
    readonly Verdicts: components['schemas']['Verdict'] | readonly components['schemas']['Verdict'][];
    /**
     * PurgeArchive
     * @description What was archived of what the purge deleted.
     */
    readonly PurgeArchive: {
      readonly entities: number;
      /** @description As stored: packed, and perhaps encrypted. */
      readonly bytes: number;
      /** @description Objects that it has, at least. */
      readonly segments?: number;
      /** @description SHA-256 of the list of its objects: what is missing is noticed. */
      readonly listDigest?: string;
      /** Format: date-time */
      readonly expiresAt: string;
      /**
       * Format: date-time
       * @description When it was erased by request.
       */
      readonly erasedAt?: string;
    };
    /** Purge */
    readonly Purge: {
      readonly id: string;
      /** @enum {string} */
      readonly state:
        | 'queued'
        | 'running'
        | 'cancelling'
        | 'succeeded'
        | 'partial'
        | 'failed'
        | 'cancelled'
        | 'refused'
        | 'interrupted';
      /** @enum {string} */
      readonly target: 'entities' | 'temporal' | 'restore';
      /** @enum {string} */
      readonly unit?: 'entities' | 'attributes' | 'datasets' | 'instances';
      readonly query: string;
      readonly tenant?: string;
      readonly link?: string;
      readonly caller: string;
      /** @description The address that the request came from: where people sign in, or with TRUSTED_PROXIES. */
      readonly clientAddress?: string;
      /** @description The program that sent it, as that calls itself. */
      readonly userAgent?: string;
      readonly requestId: string;
      /** @description The trace that it belongs to (W3C Trace Context). */
      readonly traceparent?: string;
      readonly worker: string;
      readonly retentionPolicy?: string;
      /** @description A run that matched too many, and so only reported them. */
      readonly heldBack?: boolean;
      /** @description The broker that a queued purge waits for: BROKER_URL names another. */
      readonly waitsFor?: string;
      readonly dryRun: boolean;
      readonly policy: Record<string, unknown>;
      readonly maxPerSecond: number | null;
      readonly concurrency: number;
      readonly matched: number;
      readonly deleted: number;
      readonly alreadyGone: number;
      readonly failed: number;
      readonly unknown: number;
      readonly arrived: number;
      readonly requests: number;
      readonly retries: number;
      readonly expected?: number;
      readonly ratePerSecond?: number;
      /** Format: date-time */
      readonly estimatedEndAt?: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly startedAt?: string;
      /** Format: date-time */
      readonly endedAt?: string;
      readonly problem?: Record<string, unknown>;
      readonly errors: readonly Record<string, unknown>[];
      readonly warnings: readonly string[];
      readonly sample?: readonly string[];
      readonly archive?: components['schemas']['PurgeArchive'];
      readonly fiware?: {
        readonly service?: string;
        readonly servicePath?: string;
      };
      /** @description Of a dry run: what it found can be applied. */
      readonly plan?: {
        readonly items: number;
        /** Format: date-time */
        readonly expiresAt: string;
      };
      /** @description The dry run whose plan it applies. */
      readonly planOf?: string;
      /** @description Of a restore: the purge that it undoes. */
      readonly restoreOf?: string;
      /** @description Created again; in a dry run, those that would be. */
      readonly restored?: number;
      /** @description There before, and left as they are. */
      readonly alreadyThere?: number;
      /** @description Of a dry run of a restore: those of alreadyThere that say something else than the archive. */
      readonly different?: number;
    };
    /** NewPurge */
    readonly NewPurge: {
      /** @enum {string} */
      readonly target?: 'entities' | 'temporal';
      /** @description As in the URL of the DELETE. */
      readonly query?: string;
      /** @description true, with dryRun: keep what matches, for an hour. The id of such a dry run, and nothing else: delete what still matches and was found then. */
      readonly plan?: true | string;
      readonly tenant?: string;
      /** @description A Link header that names one @context: its URL in angle brackets, and its relation. */
      readonly link?: string;
      /** @description A purge that matches more is refused before its first delete. */
      readonly maxAffected?: number;
      /** @description Deletes per second, at most. */
      readonly maxPerSecond?: number;
      /** @description `true`: nothing is deleted, the matches are counted. */
      readonly dryRun?: boolean;
      /**
       * @description Whether what is deleted is archived before, so that it can be restored: `none`, `best-effort`, or `required` (what cannot be archived is not deleted). Never less than `PURGE_ARCHIVE`.
       * @enum {string}
       */
      readonly archive?: 'none' | 'best-effort' | 'required';
    };
    /** PurgeChange */
    readonly PurgeChange: {
      /** @description Deletes per second, at most. */
      readonly maxPerSecond?: number | null;
      /** @description Delete requests in flight, at most. */
      readonly concurrency?: number;
    };
    /** Restore */
    readonly Restore: {
      /** @description Ids of entities: only these are restored. */
      readonly ids?: readonly string[];
      /** @description true: nothing is created; what is there is compared with the archive. */
      readonly dryRun?: boolean;
      readonly maxPerSecond?: number;
    };
    /** ListedScan */
    readonly ListedScan: {
      readonly id: string;
      /** @enum {string} */
      readonly state:
        | 'queued'
        | 'running'
        | 'cancelling'
        | 'succeeded'
        | 'partial'
        | 'failed'
        | 'cancelled'
        | 'refused'
        | 'interrupted';
      readonly query: string;
      readonly tenant?: string;
      readonly link?: string;
      readonly fiware?: {
        readonly service?: string;
        readonly servicePath?: string;
      };
      readonly domain?: string;
      readonly model?: string;
      /** @description SHA-256 of the schema that was given. */
      readonly candidate?: string;
      readonly sample?: number;
      readonly caller: string;
      /** @description The address that the request came from: where people sign in, or with TRUSTED_PROXIES. */
      readonly clientAddress?: string;
      /** @description The program that sent it, as that calls itself. */
      readonly userAgent?: string;
      readonly requestId: string;
      /** @description The trace that it belongs to (W3C Trace Context). */
      readonly traceparent?: string;
      readonly worker: string;
      readonly waitsFor?: string;
      readonly maxPerSecond: number | null;
      readonly matched: number;
      /** @description Entities that were judged: `valid` and `invalid`. */
      readonly checked: number;
      readonly valid: number;
      readonly invalid: number;
      /** @description Entities without a model, and those that could not be judged. */
      readonly notJudged: number;
      readonly requests: number;
      readonly retries: number;
      readonly expected?: number;
      readonly ratePerSecond?: number;
      /** Format: date-time */
      readonly estimatedEndAt?: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly startedAt?: string;
      /** Format: date-time */
      readonly endedAt?: string;
      readonly models: readonly {
        readonly domain: string;
        readonly model: string;
        /** @description 0 for a schema that is stored nowhere. */
        readonly version: number;
        readonly checked: number;
        readonly valid: number;
        readonly invalid: number;
      }[];
      readonly unmodelled: readonly {
        readonly type: string;
        readonly entities: number;
        readonly sample: readonly string[];
      }[];
      /** @description The last scan of the same that succeeded. */
      readonly previous?: {
        readonly id: string;
        readonly invalid: number;
        /** Format: date-time */
        readonly endedAt: string;
      };
      readonly problem?: Record<string, unknown>;
      readonly warnings: readonly string[];
    };
    /** NewScan */
    readonly NewScan: {
      /** @description What a GET of entities would select. */
      readonly query: string;
      readonly tenant?: string;
      /** @description A Link header that names one @context: its URL in angle brackets, and its relation. */
      readonly link?: string;
      /** @description Where models are looked for; everywhere if not given. */
      readonly domain?: string;
      /** @description The model of all entities: `domain/model`, or `domain/model@3` for a version of it. */
      readonly model?: string;
      /** @description A JSON Schema that is stored nowhere, to judge by: as the next version of `model`, if that is given. */
      readonly schema?: unknown;
      /** @description The most entities to judge, the first that are listed. */
      readonly sample?: number;
      /** @description Entities per second, at most. */
      readonly maxPerSecond?: number;
    };
    /** Finding */
    readonly Finding: {
      readonly domain: string;
      readonly model: string;
      /** @description The place in the entity. Positions in arrays are `*`. */
      readonly pointer: string;
      readonly keyword: string;
      readonly detail: string;
      readonly entities: number;
      /** @description Ids of some of the entities, at most 5. */
      readonly sample: readonly string[];
    };
    /** Scan */
    readonly Scan: {
      readonly id: string;
      /** @enum {string} */
      readonly state:
        | 'queued'
        | 'running'
        | 'cancelling'
        | 'succeeded'
        | 'partial'
        | 'failed'
        | 'cancelled'
        | 'refused'
        | 'interrupted';
      readonly query: string;
      readonly tenant?: string;
      readonly link?: string;
      readonly fiware?: {
        readonly service?: string;
        readonly servicePath?: string;
      };
      readonly domain?: string;
      readonly model?: string;
      /** @description SHA-256 of the schema that was given. */
      readonly candidate?: string;
      readonly sample?: number;
      readonly caller: string;
      /** @description The address that the request came from: where people sign in, or with TRUSTED_PROXIES. */
      readonly clientAddress?: string;
      /** @description The program that sent it, as that calls itself. */
      readonly userAgent?: string;
      readonly requestId: string;
      /** @description The trace that it belongs to (W3C Trace Context). */
      readonly traceparent?: string;
      readonly worker: string;
      readonly waitsFor?: string;
      readonly maxPerSecond: number | null;
      readonly matched: number;
      /** @description Entities that were judged: `valid` and `invalid`. */
      readonly checked: number;
      readonly valid: number;
      readonly invalid: number;
      /** @description Entities without a model, and those that could not be judged. */
      readonly notJudged: number;
      readonly requests: number;
      readonly retries: number;
      readonly expected?: number;
      readonly ratePerSecond?: number;
      /** Format: date-time */
      readonly estimatedEndAt?: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly startedAt?: string;
      /** Format: date-time */
      readonly endedAt?: string;
      readonly models: readonly {
        readonly domain: string;
        readonly model: string;
        /** @description 0 for a schema that is stored nowhere. */
        readonly version: number;
        readonly checked: number;
        readonly valid: number;
        readonly invalid: number;
      }[];
      readonly unmodelled: readonly {
        readonly type: string;
        readonly entities: number;
        readonly sample: readonly string[];
      }[];
      /** @description The last scan of the same that succeeded. */
      readonly previous?: {
        readonly id: string;
        readonly invalid: number;
        /** Format: date-time */
        readonly endedAt: string;
      };
      readonly problem?: Record<string, unknown>;
      readonly warnings: readonly string[];
      /** @description The most frequent first, at most 1000. */
      readonly findings: readonly components['schemas']['Finding'][];
    };
    /** ScanChange */
    readonly ScanChange: {
      /** @description Entities per second, at most; null for no limit. */
      readonly maxPerSecond: number | null;
    };
    /** FoundEntity */
    readonly FoundEntity: {
      readonly id: string;
      readonly type: string;
      readonly errors: readonly {
        readonly pointer: string;
        readonly keyword: string;
        readonly detail: string;
      }[];
    };
    /** ListedRetentionPolicy */
    readonly ListedRetentionPolicy: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      /** @enum {string} */
      readonly target: 'entities' | 'temporal';
      /** @description As in the URL of a purge. */
      readonly query: string;
      readonly tenant?: string;
      /** @description A Link header that names one @context: its URL in angle brackets, and its relation. */
      readonly link?: string;
      /** @description A duration of ISO 8601, such as P90D. */
      readonly olderThan: string;
      /** @description Entities: `modifiedAt`, `createdAt`, an attribute, or its `observedAt` as in `speed.observedAt`. Temporal: `observedAt`, `modifiedAt`, `createdAt`, or `speed.observedAt` for that attribute alone. */
      readonly by: string;
      /** @description A cron pattern of five fields, without nicknames and extensions: `0 3 * * *`. */
      readonly schedule: string;
      /** @description A purge that matches more is refused before its first delete. */
      readonly maxAffected?: number;
      /** @description Deletes per second, at most. */
      readonly maxPerSecond?: number;
      /**
       * @description Whether what is deleted is archived before, so that it can be restored: `none`, `best-effort`, or `required` (what cannot be archived is not deleted). Never less than `PURGE_ARCHIVE`.
       * @enum {string}
       */
      readonly archive?: 'none' | 'best-effort' | 'required';
      readonly description?: string;
      /** @default UTC */
      readonly timeZone: string;
      /**
       * @description A run that matches more than so many times the median of the last five becomes a report; 0 for no such guard.
       * @default 3
       */
      readonly maxGrowth: number;
      /**
       * @default report
       * @enum {string}
       */
      readonly mode: 'report' | 'enforce';
      /** @default true */
      readonly enabled: boolean;
      /** @description Who wrote it last. */
      readonly caller: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
      /** @description The record of its last run, in short; not given if it has not run. */
      readonly lastRun?: {
        readonly id: string;
        /** @enum {string} */
        readonly state:
          | 'queued'
          | 'running'
          | 'cancelling'
          | 'succeeded'
          | 'partial'
          | 'failed'
          | 'cancelled'
          | 'refused'
          | 'interrupted';
        /** @description A run that matched too many, and so only reported them. */
        readonly heldBack?: boolean;
        readonly dryRun: boolean;
        readonly matched: number;
        readonly deleted: number;
        /** Format: date-time */
        readonly createdAt: string;
      };
    };
    /** NewRetentionPolicy */
    readonly NewRetentionPolicy: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      /** @enum {string} */
      readonly target: 'entities' | 'temporal';
      /** @description As in the URL of a purge. */
      readonly query: string;
      readonly tenant?: string;
      /** @description A Link header that names one @context: its URL in angle brackets, and its relation. */
      readonly link?: string;
      /** @description A duration of ISO 8601, such as P90D. */
      readonly olderThan: string;
      /** @description Entities: `modifiedAt`, `createdAt`, an attribute, or its `observedAt` as in `speed.observedAt`. Temporal: `observedAt`, `modifiedAt`, `createdAt`, or `speed.observedAt` for that attribute alone. */
      readonly by: string;
      /** @description A cron pattern of five fields, without nicknames and extensions: `0 3 * * *`. */
      readonly schedule: string;
      /** @description A purge that matches more is refused before its first delete. */
      readonly maxAffected?: number;
      /** @description Deletes per second, at most. */
      readonly maxPerSecond?: number;
      /**
       * @description Whether what is deleted is archived before, so that it can be restored: `none`, `best-effort`, or `required` (what cannot be archived is not deleted). Never less than `PURGE_ARCHIVE`.
       * @enum {string}
       */
      readonly archive?: 'none' | 'best-effort' | 'required';
      readonly description?: string;
      /** @default UTC */
      readonly timeZone?: string;
      /**
       * @description A run that matches more than so many times the median of the last five becomes a report; 0 for no such guard.
       * @default 3
       */
      readonly maxGrowth?: number;
      /**
       * @default report
       * @enum {string}
       */
      readonly mode?: 'report' | 'enforce';
      /** @default true */
      readonly enabled?: boolean;
    };
    /** RetentionPolicy */
    readonly RetentionPolicy: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      /** @enum {string} */
      readonly target: 'entities' | 'temporal';
      /** @description As in the URL of a purge. */
      readonly query: string;
      readonly tenant?: string;
      /** @description A Link header that names one @context: its URL in angle brackets, and its relation. */
      readonly link?: string;
      /** @description A duration of ISO 8601, such as P90D. */
      readonly olderThan: string;
      /** @description Entities: `modifiedAt`, `createdAt`, an attribute, or its `observedAt` as in `speed.observedAt`. Temporal: `observedAt`, `modifiedAt`, `createdAt`, or `speed.observedAt` for that attribute alone. */
      readonly by: string;
      /** @description A cron pattern of five fields, without nicknames and extensions: `0 3 * * *`. */
      readonly schedule: string;
      /** @description A purge that matches more is refused before its first delete. */
      readonly maxAffected?: number;
      /** @description Deletes per second, at most. */
      readonly maxPerSecond?: number;
      /**
       * @description Whether what is deleted is archived before, so that it can be restored: `none`, `best-effort`, or `required` (what cannot be archived is not deleted). Never less than `PURGE_ARCHIVE`.
       * @enum {string}
       */
      readonly archive?: 'none' | 'best-effort' | 'required';
      readonly description?: string;
      /** @default UTC */
      readonly timeZone: string;
      /**
       * @description A run that matches more than so many times the median of the last five becomes a report; 0 for no such guard.
       * @default 3
       */
      readonly maxGrowth: number;
      /**
       * @default report
       * @enum {string}
       */
      readonly mode: 'report' | 'enforce';
      /** @default true */
      readonly enabled: boolean;
      /** @description Who wrote it last. */
      readonly caller: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
    };
    /** RetentionPolicySettings */
    readonly RetentionPolicySettings: {
      /** @description As in the path. */
      readonly name?: string;
      /** @enum {string} */
      readonly target: 'entities' | 'temporal';
      /** @description As in the URL of a purge. */
      readonly query: string;
      readonly tenant?: string;
      /** @description A Link header that names one @context: its URL in angle brackets, and its relation. */
      readonly link?: string;
      /** @description A duration of ISO 8601, such as P90D. */
      readonly olderThan: string;
      /** @description Entities: `modifiedAt`, `createdAt`, an attribute, or its `observedAt` as in `speed.observedAt`. Temporal: `observedAt`, `modifiedAt`, `createdAt`, or `speed.observedAt` for that attribute alone. */
      readonly by: string;
      /** @description A cron pattern of five fields, without nicknames and extensions: `0 3 * * *`. */
      readonly schedule: string;
      /** @description A purge that matches more is refused before its first delete. */
      readonly maxAffected?: number;
      /** @description Deletes per second, at most. */
      readonly maxPerSecond?: number;
      /**
       * @description Whether what is deleted is archived before, so that it can be restored: `none`, `best-effort`, or `required` (what cannot be archived is not deleted). Never less than `PURGE_ARCHIVE`.
       * @enum {string}
       */
      readonly archive?: 'none' | 'best-effort' | 'required';
      readonly description?: string;
      /** @default UTC */
      readonly timeZone?: string;
      /**
       * @description A run that matches more than so many times the median of the last five becomes a report; 0 for no such guard.
       * @default 3
       */
      readonly maxGrowth?: number;
      /**
       * @default report
       * @enum {string}
       */
      readonly mode?: 'report' | 'enforce';
      /** @default true */
      readonly enabled?: boolean;
    };
    /** RetentionPreview */
    readonly RetentionPreview: {
      readonly matched: number;
      readonly sample: readonly string[];
      /**
       * Format: date-time
       * @description What is older goes.
       */
      readonly cutoff: string;
      /** @description The query of the purge. */
      readonly query: string;
      /**
       * @description What is counted; if not given: entities, or attributes with drop or keep.
       * @enum {string}
       */
      readonly unit?: 'entities' | 'attributes' | 'datasets' | 'instances';
      /** @description true: there are more than could be counted. */
      readonly atLeast?: boolean;
      /** @description Given where more match than this, which maxGrowth allows: a run would only report. */
      readonly reportAbove?: number;
    };
    /** WritePolicy */
    readonly WritePolicy: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      /** @description The tenant that it is for; `""` is the default one. All when not given. */
      readonly tenant?: string;
      /** @description The types of entities that it is for, by IRI, or by the name at its end. All when not given. */
      readonly types?: readonly string[];
      /** @description The callers that it is for, as the gateway in front names them. All when not given. */
      readonly callers?: readonly string[];
      /**
       * @description `report` passes everything on and says what is not valid, `enforce` refuses it, `off` looks at nothing.
       * @enum {string}
       */
      readonly mode: 'off' | 'report' | 'enforce';
      /** @description The model that judges, as `domain/model` or `domain/model@3`; that of each type when not given. */
      readonly model?: string;
      readonly description?: string;
      /**
       * @description Of the policies that fit, the one with the highest decides; among equal ones, the first by name.
       * @default 0
       */
      readonly priority: number;
      /**
       * @description What `enforce` does with what no model judges.
       * @default accept
       * @enum {string}
       */
      readonly onUnjudged: 'accept' | 'refuse';
      /**
       * @description What `enforce` does where judging fails; `refuse` when not given, `accept` in a report.
       * @enum {string}
       */
      readonly onFailure: 'accept' | 'refuse';
      /**
       * @description `all` sends nothing of a batch with an entity that is refused, `valid-only` sends the others.
       * @default all
       * @enum {string}
       */
      readonly batch: 'valid-only' | 'all';
      /** @description Who wrote it last. */
      readonly caller: string;
      /** Format: date-time */
      readonly createdAt: string;
      /** Format: date-time */
      readonly modifiedAt: string;
      /** @description In the answer to a write of the policy: what its author may not expect. */
      readonly warnings?: readonly string[];
    };
    /** NewWritePolicy */
    readonly NewWritePolicy: {
      /** @description A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
      readonly name: string;
      /** @description The tenant that it is for; `""` is the default one. All when not given. */
      readonly tenant?: string;
      /** @description The types of entities that it is for, by IRI, or by the name at its end. All when not given. */
      readonly types?: readonly string[];
      /** @description The callers that it is for, as the gateway in front names them. All when not given. */
      readonly callers?: readonly string[];
      /**
       * @description `report` passes everything on and says what is not valid, `enforce` refuses it, `off` looks at nothing.
       * @enum {string}
       */
      readonly mode: 'off' | 'report' | 'enforce';
      /** @description The model that judges, as `domain/model` or `domain/model@3`; that of each type when not given. */
      readonly model?: string;
      readonly description?: string;
      /**
       * @description Of the policies that fit, the one with the highest decides; among equal ones, the first by name.
       * @default 0
       */
      readonly priority?: number;
      /**
       * @description What `enforce` does with what no model judges.
       * @default accept
       * @enum {string}
       */
      readonly onUnjudged?: 'accept' | 'refuse';
      /**
       * @description What `enforce` does where judging fails; `refuse` when not given, `accept` in a report.
       * @enum {string}
       */
      readonly onFailure?: 'accept' | 'refuse';
      /**
       * @description `all` sends nothing of a batch with an entity that is refused, `valid-only` sends the others.
       * @default all
       * @enum {string}
       */
      readonly batch?: 'valid-only' | 'all';
    };
    /** WritePolicySettings */
    readonly WritePolicySettings: {
      /** @description As in the path. */
      readonly name?: string;
      /** @description The tenant that it is for; `""` is the default one. All when not given. */
      readonly tenant?: string;
      /** @description The types of entities that it is for, by IRI, or by the name at its end. All when not given. */
      readonly types?: readonly string[];
      /** @description The callers that it is for, as the gateway in front names them. All when not given. */
      readonly callers?: readonly string[];
      /**
       * @description `report` passes everything on and says what is not valid, `enforce` refuses it, `off` looks at nothing.
       * @enum {string}
       */
      readonly mode: 'off' | 'report' | 'enforce';
      /** @description The model that judges, as `domain/model` or `domain/model@3`; that of each type when not given. */
      readonly model?: string;
      readonly description?: string;
      /**
       * @description Of the policies that fit, the one with the highest decides; among equal ones, the first by name.
       * @default 0
       */
      readonly priority?: number;
      /**
       * @description What `enforce` does with what no model judges.
       * @default accept
       * @enum {string}
       */
      readonly onUnjudged?: 'accept' | 'refuse';
      /**
       * @description What `enforce` does where judging fails; `refuse` when not given, `accept` in a report.
       * @enum {string}
       */
      readonly onFailure?: 'accept' | 'refuse';
      /**
       * @description `all` sends nothing of a batch with an entity that is refused, `valid-only` sends the others.
       * @default all
       * @enum {string}
       */
      readonly batch?: 'valid-only' | 'all';
    };
    /** WriteFinding */
    readonly WriteFinding: {
      readonly domain: string;
      readonly model: string;
      /** @description Into the entity; positions in arrays are `*`. */
      readonly pointer: string;
      readonly keyword: string;
      /** @description Of the first entity. */
      readonly detail: string;
      readonly entities: number;
      /** @description Ids of the first five. */
      readonly sample: readonly string[];
    };
    /** WriteChecks */
    readonly WriteChecks: {
      /**
       * Format: date-time
       * @description When this process began to count.
       */
      readonly since: string;
      /** @description Entities that were looked at, those that are not judged included. */
      readonly checked: number;
      readonly invalid: number;
      readonly refused: number;
      readonly notJudged: number;
      readonly findings: readonly components['schemas']['WriteFinding'][];
    };
    /** Lesson */
    readonly Lesson: {
      /** @enum {string} */
      readonly collection: 'entities' | 'temporal';
      readonly name: string;
      /**
       * @description proof: it was seen to work; limit: purges are slower or more careful for it.
       * @enum {string}
       */
      readonly kind: 'proof' | 'limit';
      readonly detail: string;
      /** Format: date-time */
      readonly learntAt: string;
    };
    /** Status */
    readonly Status: {
      /** @description Of this gateway. */
      readonly version: string;
      /** @description What the operator calls it: ENVIRONMENT_NAME. */
      readonly environment?: string;
      /** @description true: purges can archive what they delete. */
      readonly archives?: boolean;
      /** @description Where people sign in. Not given: nobody does. */
      readonly signIn?: {
        /** @description The OpenID provider. */
        readonly issuer: string;
        /** @description The client as which the console signs people in. */
        readonly clientId?: string;
        /** @description Whom access tokens have to be for. */
        readonly audience: string;
      };
      /** @enum {string} */
      readonly status: 'up' | 'down' | 'shutting down';
      /** @enum {string} */
      readonly broker: 'up' | 'down' | 'not asked';
      /** @enum {string} */
      readonly database: 'up' | 'down' | 'not asked';
      /** @description What purges have learnt about the broker; each counts for an hour. */
      readonly learnt: readonly components['schemas']['Lesson'][];
    };
    /** Me */
    readonly Me: {
      /** @description As records name you. */
      readonly caller: string;
      /** @description Each role with those that it includes. */
      readonly roles: readonly ('viewer' | 'modeller' | 'purger' | 'admin')[];
      /** @description The tenants that you may work on, `""` for the default one; all when not given. */
      readonly tenants?: readonly string[];
    };
    /** ImportedDocuments */
    readonly ImportedDocuments: {
      /** @description Documents by their paths; one whose name is a URL is a shared document of that URL. */
      readonly documents: Record<string, unknown>;
    };
    /**
     * ImportedExamples
     * @description The examples of a model, held against its schema.
     */
    readonly ImportedExamples: {
      /** @description How many are kept with the model, whether they are valid or not. */
      readonly kept: number;
      /** @description Those that are not kept. */
      readonly leftOut?: readonly {
        readonly path: string;
        readonly reason: string;
      }[];
      readonly valid: number;
      /** @description The first errors of each example that is not valid. */
      readonly invalid: readonly {
        readonly path: string;
        readonly pointer: string;
        /** @description Line of the first fault, from 1. */
        readonly line?: number;
        readonly detail: string;
      }[];
      /** @description Paths of those that were not checked, because the examples of the import took too long. */
      readonly unchecked?: readonly string[];
    };
    /** ImportedFile */
    readonly ImportedFile: {
      readonly path: string;
      /**
       * Format: uri
       * @description Under which a shared document is stored.
       */
      readonly url?: string;
      /** @description The model that it becomes, as domain/model. */
      readonly model?: string;
      /** @description Name of the stored context that it becomes. */
      readonly context?: string;
      /** @enum {unknown} */
      readonly status: 'created' | 'updated' | 'unchanged' | 'refused';
      /** @description Why it is refused, and what can be done. */
      readonly reason?: string;
      /** @description Line of the first fault, from 1. */
      readonly line?: number;
      /**
       * @description `narrowing`: may reject entities that were valid before; `breaking`: rejects some of them, or changes what they mean.
       * @enum {unknown}
       */
      readonly change?: 'compatible' | 'narrowing' | 'breaking';
      readonly differences?: readonly components['schemas']['Difference'][];
      readonly examples?: components['schemas']['ImportedExamples'];
    };
    /** ImportReport */
    readonly ImportReport: {
      readonly summary: {
        readonly dryRun: boolean;
        readonly domains: readonly string[];
        readonly created: number;
        readonly updated: number;
        readonly unchanged: number;
        readonly refused: number;
        /** @description Files that are nothing of a model. */
        readonly ignored: number;
        readonly models: number;
        readonly examples: {
          readonly valid: number;
          readonly invalid: number;
          readonly unchecked: number;
          readonly kept: number;
          readonly leftOut: number;
        };
      };
      readonly files: readonly components['schemas']['ImportedFile'][];
      /** @description Models that use a changed document or follow a changed context, and what happens to them. */
      readonly dependents: readonly components['schemas']['UpdatedDependent'][];
    };
    /** PurgePreview */
    readonly PurgePreview: {
      readonly matched: number;
      /** @description Ids of entities that match, at most 100. */
      readonly sample: readonly string[];
      /**
       * @description What is counted; if not given: entities, or attributes with drop or keep.
       * @enum {string}
       */
      readonly unit?: 'entities' | 'attributes' | 'datasets' | 'instances';
      /** @description true: there are more than could be counted. */
      readonly atLeast?: boolean;
      /** @description Some of the parts that match, at most 100. */
      readonly items?: readonly {
        readonly entityId: string;
        readonly attribute?: string;
        readonly datasetId?: string;
        readonly instanceId?: string;
      }[];
      /** @description Why nothing may match. */
      readonly hints?: readonly string[];
    };
    /** PurgeSummary */
    readonly PurgeSummary: {
      readonly id: string;
      readonly matched: number;
      readonly deleted: number;
      readonly alreadyGone: number;
      readonly failed: number;
      readonly unknown: number;
      readonly durationMs?: number;
      readonly requests?: number;
    };
    /** BatchOperationResult */
    readonly BatchOperationResult: {
      readonly success: readonly string[];
      readonly errors: readonly {
        readonly entityId?: string;
        readonly error?: Record<string, unknown>;
      }[];
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  readonly listDomains: {
    readonly parameters: {
      readonly query?: {
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Domains by name. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['ListedDomain'][];
        };
      };
    };
  };
  readonly createDomain: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['NewDomain'];
      };
    };
    readonly responses: {
      /** @description The new domain. */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Domain'];
        };
      };
    };
  };
  readonly getDomain: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The domain. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Domain'];
        };
      };
    };
  };
  readonly updateDomain: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
      };
      readonly cookie?: never;
    };
    /** @description A member that is left out keeps its value; null removes it. */
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['DomainChange'];
      };
    };
    readonly responses: {
      /** @description The updated domain. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Domain'];
        };
      };
    };
  };
  readonly deleteDomain: {
    readonly parameters: {
      readonly query?: {
        /** @description Delete its models with it, with all their versions and contexts. */
        readonly cascade?: boolean;
      };
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Deleted. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly getDomainContext: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description With the core context last. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/ld+json': {
            /** @description A JSON-LD context. */
            readonly '@context': unknown;
          };
        };
      };
    };
  };
  readonly getDomainContextPreflight: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description GET and HEAD, with any headers. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly listDomainContextWarnings: {
    readonly parameters: {
      readonly query?: {
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Warnings, by term. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['DomainContextWarning'][];
        };
      };
    };
  };
  readonly searchModels: {
    readonly parameters: {
      readonly query?: {
        /** @description A part of the name, the description, an attribute or a type of a model, in capital or small letters. */
        readonly q?: string;
        /** @description A type of the entities of a model. */
        readonly type?: string;
        /** @description The name of an attribute that a model describes. */
        readonly attribute?: string;
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Models by domain and name. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['ModelSummary'][];
        };
      };
    };
  };
  readonly listModels: {
    readonly parameters: {
      readonly query?: {
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Models by name. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['ModelSummary'][];
        };
      };
    };
  };
  readonly createModel: {
    readonly parameters: {
      readonly query?: {
        /** @description Check and compare, and write nothing. */
        readonly dryRun?: boolean;
      };
      readonly header?: never;
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['NewModel'];
      };
    };
    readonly responses: {
      /** @description What a dry run found. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['ModelDryRun'];
        };
      };
      /** @description The new model. */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Model'];
        };
      };
    };
  };
  readonly getModel: {
    readonly parameters: {
      readonly query?: {
        /** @description Number of a version; the current one if not given. */
        readonly version?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The model. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Model'];
        };
      };
    };
  };
  readonly updateModel: {
    readonly parameters: {
      readonly query?: {
        /** @description Check and compare, and write nothing. */
        readonly dryRun?: boolean;
      };
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
      };
      readonly cookie?: never;
    };
    /** @description A member that is left out keeps its value; null removes it. A model that is not there yet needs a schema. */
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['ModelChange'];
      };
    };
    readonly responses: {
      /** @description The updated model and its changes, or the changes that a dry run found. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json':
            | components['schemas']['UpdatedModel']
            | components['schemas']['ModelDryRun'];
        };
      };
      /** @description The new model. */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['UpdatedModel'];
        };
      };
    };
  };
  readonly deleteModel: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Deleted. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly listModelVersions: {
    readonly parameters: {
      readonly query?: {
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Versions, oldest first. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['ModelVersion'][];
        };
      };
    };
  };
  readonly diffModelVersions: {
    readonly parameters: {
      readonly query?: {
        /** @description Number of a version; the one before `to` if not given. */
        readonly from?: number;
        /** @description Number of a version; the current one if not given. */
        readonly to?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The change report, and where the schemas differ. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['ModelDiff'];
        };
      };
    };
  };
  readonly getModelSchema: {
    readonly parameters: {
      readonly query?: {
        /** @description Number of a version; the current one if not given. */
        readonly version?: number;
        /** @description Self-contained, of draft 2020-12, with all the documents that it refers to. */
        readonly bundled?: boolean;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description As it was given, or bundled. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/schema+json': unknown;
        };
      };
    };
  };
  readonly getModelOpenapi: {
    readonly parameters: {
      readonly query?: {
        /** @description Number of a version; the current one if not given. */
        readonly version?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Self-contained. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': unknown;
        };
      };
    };
  };
  readonly getModelContext: {
    readonly parameters: {
      readonly query?: {
        /** @description Number of a version; the current one if not given. */
        readonly version?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description With the core context last. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/ld+json': unknown;
        };
      };
    };
  };
  readonly getModelContextPreflight: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description GET and HEAD, with any headers. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly listModelFiles: {
    readonly parameters: {
      readonly query?: {
        /** @description Number of a version; the current one if not given. */
        readonly version?: number;
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description A page of them; documents that the schema refers to come last. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['ModelFile'][];
        };
      };
    };
  };
  readonly getModelFile: {
    readonly parameters: {
      readonly query?: {
        /** @description Number of a version; the current one if not given. */
        readonly version?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
        /** @description Name of a file, as the list of files has it. */
        readonly file: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description With the media type that the list of files gives. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': unknown;
          readonly 'application/schema+json': unknown;
          readonly 'application/ld+json': unknown;
        };
      };
    };
  };
  readonly listModelExamples: {
    readonly parameters: {
      readonly query?: {
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Examples by name. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['ModelExample'][];
        };
      };
    };
  };
  readonly getModelExample: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
        /** @description Name of an example. */
        readonly example: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description As it was given: `application/ld+json` if its name ends with `.jsonld`. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': unknown;
          readonly 'application/ld+json': unknown;
        };
      };
    };
  };
  readonly putModelExample: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
        /** @description Name of an example. */
        readonly example: string;
      };
      readonly cookie?: never;
    };
    /** @description An entity: NGSI-LD normalized, concise, key-values or GeoJSON, or NGSIv2 normalized; or several. */
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['Entities'];
      };
    };
    readonly responses: {
      /** @description The example as it is now. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['PutModelExample'];
        };
      };
      /** @description The new example. */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['PutModelExample'];
        };
      };
    };
  };
  readonly deleteModelExample: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
        /** @description Name of an example. */
        readonly example: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Deleted. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly listContexts: {
    readonly parameters: {
      readonly query?: {
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Core contexts, then the others by name. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['Context'][];
        };
      };
    };
  };
  readonly createContext: {
    readonly parameters: {
      readonly query?: {
        /** @description Say what would become of the context and of the models that follow it, and write nothing. */
        readonly dryRun?: boolean;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['NewContext'];
      };
    };
    readonly responses: {
      /** @description What a dry run found. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['ContextDryRun'];
        };
      };
      /** @description The new context. */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['WrittenContext'];
        };
      };
    };
  };
  readonly getContext: {
    readonly parameters: {
      readonly query?: {
        /** @description Number of a version; the current one if not given. */
        readonly version?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a context; of a generated one `{domain}~{model}`. */
        readonly context: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The JSON-LD context. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/ld+json': {
            /** @description A JSON-LD context. */
            readonly '@context': unknown;
          };
        };
      };
    };
  };
  readonly updateContext: {
    readonly parameters: {
      readonly query?: {
        /** @description Say what would become of the context and of the models that follow it, and write nothing. */
        readonly dryRun?: boolean;
      };
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a context; of a generated one `{domain}~{model}`. */
        readonly context: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['ContextChange'];
      };
    };
    readonly responses: {
      /** @description The context as it is now; or what a dry run found. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json':
            | components['schemas']['WrittenContext']
            | components['schemas']['ContextDryRun'];
        };
      };
    };
  };
  readonly deleteContext: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a context; of a generated one `{domain}~{model}`. */
        readonly context: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Deleted. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly getContextPreflight: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Name of a context; of a generated one `{domain}~{model}`. */
        readonly context: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description GET and HEAD, with any headers. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly getReferences: {
    readonly parameters: {
      readonly query?: {
        /** @description Absolute URI by which `$ref`s name the document, without a fragment. Without it, the documents are listed. */
        readonly uri?: string;
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description A page of the list, by URI; or the document, as it was given. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['Reference'][];
          readonly 'application/schema+json': unknown;
        };
      };
    };
  };
  readonly putReference: {
    readonly parameters: {
      readonly query: {
        /** @description Absolute URI by which `$ref`s name the document, without a fragment. */
        readonly uri: string;
        /** @description Update the models that were made with the document. */
        readonly dependents?: boolean;
        /** @description Say what would become of the document and of the models that were made with it, and write nothing. */
        readonly dryRun?: boolean;
      };
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    /** @description A JSON document that `$ref`s name. */
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': unknown;
      };
    };
    readonly responses: {
      /** @description Replaced; or what a dry run found. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json':
            | components['schemas']['PutReference']
            | components['schemas']['ReferenceDryRun'];
        };
      };
      /** @description Created. */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['PutReference'];
        };
      };
    };
  };
  readonly deleteReference: {
    readonly parameters: {
      readonly query: {
        /** @description Absolute URI by which `$ref`s name the document, without a fragment. */
        readonly uri: string;
      };
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Deleted. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly exportModels: {
    readonly parameters: {
      readonly query?: {
        /** @description the name of a domain: a letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
        readonly domain?: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description A tar.gz. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/gzip': string;
        };
      };
    };
  };
  readonly inferSchema: {
    readonly parameters: {
      readonly query?: {
        /** @description the name of a model: a letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
        readonly model?: string;
        /** @description The form of the samples: plain objects, NGSI-LD entities of any representation, NGSIv2 normalized, or GeoJSON Features. */
        readonly form?: 'keyvalues' | 'ngsi-ld' | 'ngsiv2' | 'geojson';
        /** @description Strings with few distinct values become enums. */
        readonly enum?: boolean;
        /** @description false: entities that violate NGSI-LD are taken by their values. Plain objects violate nothing. */
        readonly strict?: boolean;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** @description One sample, or several. */
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['Samples'];
      };
    };
    readonly responses: {
      /** @description The schema. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/schema+json': unknown;
        };
      };
    };
  };
  readonly expandJsonLd: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['Expand'];
      };
    };
    readonly responses: {
      /** @description Expanded. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['JsonLdResult'];
        };
      };
    };
  };
  readonly compactJsonLd: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['Compact'];
      };
    };
    readonly responses: {
      /** @description Compacted. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['JsonLdResult'];
        };
      };
    };
  };
  readonly validateByType: {
    readonly parameters: {
      readonly query?: {
        /** @description the name of a domain: a letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
        readonly domain?: string;
        /** @description The representation of the entity; detected if not given. */
        readonly form?: 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';
        /** @description false: a violation of NGSI-LD alone is a warning, not an error. */
        readonly strict?: boolean;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /** @description An entity: NGSI-LD normalized, concise, key-values or GeoJSON, or NGSIv2 normalized; or several. */
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['Entities'];
      };
    };
    readonly responses: {
      /** @description Whether the entity is valid, with its errors. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Verdicts'];
        };
      };
    };
  };
  readonly validateEntity: {
    readonly parameters: {
      readonly query?: {
        /** @description Number of a version; the current one if not given. */
        readonly version?: number;
        /** @description The representation of the entity; detected if not given. */
        readonly form?: 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';
        /** @description false: a violation of NGSI-LD alone is a warning, not an error. */
        readonly strict?: boolean;
      };
      readonly header?: never;
      readonly path: {
        /** @description Name of a domain. */
        readonly domain: string;
        /** @description Name of a model. */
        readonly model: string;
      };
      readonly cookie?: never;
    };
    /** @description An entity: NGSI-LD normalized, concise, key-values or GeoJSON, or NGSIv2 normalized; or several. */
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['Entities'];
      };
    };
    readonly responses: {
      /** @description Whether the entity is valid, with its errors. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Verdicts'];
        };
      };
    };
  };
  readonly listPurges: {
    readonly parameters: {
      readonly query?: {
        /** @description The state of the purges. */
        readonly state?:
          | 'queued'
          | 'running'
          | 'cancelling'
          | 'succeeded'
          | 'partial'
          | 'failed'
          | 'cancelled'
          | 'refused'
          | 'interrupted';
        /** @description The tenant that they were for. */
        readonly tenant?: string;
        /** @description Who started them. */
        readonly caller?: string;
        /** @description The retention policy whose runs they are. */
        readonly retentionPolicy?: string;
        /** @description true: dry runs alone; false: no dry runs. */
        readonly dryRun?: boolean;
        /** @description A date or a time (RFC 3339): purges that were created then or later. */
        readonly since?: string;
        /** @description A date or a time (RFC 3339): purges that were created before it. */
        readonly until?: string;
        /** @description A part of their query, decoded, in any case. */
        readonly text?: string;
        /** @description An entity type that their query names. */
        readonly type?: string;
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Their records. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['Purge'][];
        };
      };
    };
  };
  readonly startPurge: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['NewPurge'];
      };
    };
    readonly responses: {
      /** @description Its record. */
      readonly 202: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Purge'];
        };
      };
    };
  };
  readonly getPurge: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Id of a purge. */
        readonly purge: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The record. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Purge'];
        };
      };
    };
  };
  readonly changePurge: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Id of a purge. */
        readonly purge: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['PurgeChange'];
      };
    };
    readonly responses: {
      /** @description The record. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Purge'];
        };
      };
    };
  };
  readonly cancelPurge: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Id of a purge. */
        readonly purge: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The record. */
      readonly 202: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Purge'];
        };
      };
    };
  };
  readonly watchPurge: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Id of a purge. */
        readonly purge: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Events, each with a record. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'text/event-stream': string;
        };
      };
      /** @description The record of Last-Event-ID is final. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly getPurgedIds: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Id of a purge. */
        readonly purge: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description One JSON object a line. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/x-ndjson': string;
        };
      };
    };
  };
  readonly deletePurgedIds: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Id of a purge. */
        readonly purge: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Removed, or there was none. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly restorePurge: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Id of a purge that has ended. */
        readonly purge: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['Restore'];
      };
    };
    readonly responses: {
      /** @description Its record. */
      readonly 202: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Purge'];
        };
      };
    };
  };
  readonly getPurgeArchive: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Id of a purge that has ended. */
        readonly purge: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The archive. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/x-ndjson': string;
        };
      };
    };
  };
  readonly erasePurgeArchive: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Id of a purge that has ended. */
        readonly purge: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Erased. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly listScans: {
    readonly parameters: {
      readonly query?: {
        /** @description The state of the scans. */
        readonly state?:
          | 'queued'
          | 'running'
          | 'cancelling'
          | 'succeeded'
          | 'partial'
          | 'failed'
          | 'cancelled'
          | 'refused'
          | 'interrupted';
        /** @description The tenant that they were for. */
        readonly tenant?: string;
        /** @description Who started them. */
        readonly caller?: string;
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Their records. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['ListedScan'][];
        };
      };
    };
  };
  readonly startScan: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['NewScan'];
      };
    };
    readonly responses: {
      /** @description Its record. */
      readonly 202: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Scan'];
        };
      };
    };
  };
  readonly getScan: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Id of a scan. */
        readonly scan: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The record. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Scan'];
        };
      };
    };
  };
  readonly changeScan: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Id of a scan. */
        readonly scan: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['ScanChange'];
      };
    };
    readonly responses: {
      /** @description The record. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Scan'];
        };
      };
    };
  };
  readonly cancelScan: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Id of a scan. */
        readonly scan: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The record. */
      readonly 202: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Scan'];
        };
      };
    };
  };
  readonly watchScan: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Id of a scan. */
        readonly scan: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Events, each with a record. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'text/event-stream': string;
        };
      };
      /** @description The record of Last-Event-ID is final. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly listFoundEntities: {
    readonly parameters: {
      readonly query: {
        /** @description Position of the finding in the record, from 0. */
        readonly finding: number;
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Id of a scan. */
        readonly scan: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The entities, with what is wrong with each. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['FoundEntity'][];
          readonly 'application/x-ndjson': string;
        };
      };
    };
  };
  readonly listRetentionPolicies: {
    readonly parameters: {
      readonly query?: {
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Policies by name, each with its last run. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['ListedRetentionPolicy'][];
        };
      };
    };
  };
  readonly createRetentionPolicy: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['NewRetentionPolicy'];
      };
    };
    readonly responses: {
      /** @description The new policy. */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['RetentionPolicy'];
        };
      };
    };
  };
  readonly getRetentionPolicy: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a retention policy. */
        readonly retentionPolicy: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The policy. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['RetentionPolicy'];
        };
      };
    };
  };
  readonly putRetentionPolicy: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a retention policy. */
        readonly retentionPolicy: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['RetentionPolicySettings'];
      };
    };
    readonly responses: {
      /** @description Replaced. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['RetentionPolicy'];
        };
      };
      /** @description Created. */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['RetentionPolicy'];
        };
      };
    };
  };
  readonly deleteRetentionPolicy: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a retention policy. */
        readonly retentionPolicy: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Deleted. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly previewRetentionPolicy: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description Name of a retention policy. */
        readonly retentionPolicy: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The matches. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['RetentionPreview'];
        };
      };
    };
  };
  readonly previewRetentionSettings: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['RetentionPolicySettings'];
      };
    };
    readonly responses: {
      /** @description The matches. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['RetentionPreview'];
        };
      };
    };
  };
  readonly runRetentionPolicy: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a retention policy. */
        readonly retentionPolicy: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The record of the run. */
      readonly 202: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Purge'];
        };
      };
    };
  };
  readonly listRetentionRuns: {
    readonly parameters: {
      readonly query?: {
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a retention policy. */
        readonly retentionPolicy: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Their records. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['Purge'][];
        };
      };
    };
  };
  readonly listWritePolicies: {
    readonly parameters: {
      readonly query?: {
        /** @description The most items to answer; 100 if not given. */
        readonly limit?: number;
        /** @description How many items to skip; none if not given. */
        readonly offset?: number;
      };
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Policies by name. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': readonly components['schemas']['WritePolicy'][];
        };
      };
    };
  };
  readonly createWritePolicy: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['NewWritePolicy'];
      };
    };
    readonly responses: {
      /** @description The new policy. */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['WritePolicy'];
        };
      };
    };
  };
  readonly getWritePolicy: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a write policy. */
        readonly writePolicy: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The policy. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['WritePolicy'];
        };
      };
    };
  };
  readonly putWritePolicy: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a write policy. */
        readonly writePolicy: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['WritePolicySettings'];
      };
    };
    readonly responses: {
      /** @description Replaced. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['WritePolicy'];
        };
      };
      /** @description Created. */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['WritePolicy'];
        };
      };
    };
  };
  readonly deleteWritePolicy: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags, one of which must be the current one; or *, for any. */
        readonly 'If-Match'?: string;
        /** @description *: the resource must not exist. */
        readonly 'If-None-Match'?: string;
      };
      readonly path: {
        /** @description Name of a write policy. */
        readonly writePolicy: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Deleted. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly getWriteChecks: {
    readonly parameters: {
      readonly query?: {
        /** @description Only what this policy has decided about. */
        readonly policy?: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Counts and findings, the most frequent ones first. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['WriteChecks'];
        };
      };
    };
  };
  readonly getStatus: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description How it is now. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Status'];
        };
      };
    };
  };
  readonly getMe: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description You. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Me'];
        };
      };
    };
  };
  readonly getOpenapi: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description ETags of the representations that the client has. */
        readonly 'If-None-Match'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Self-contained. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': Record<string, unknown>;
        };
      };
    };
  };
  readonly getOpenapiPreflight: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description GET and HEAD, with any headers. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly importModels: {
    readonly parameters: {
      readonly query?: {
        /** @description the name of a domain: a letter or digit, then up to 127 letters, digits and `_`, `.`, `-`. */
        readonly domain?: string;
        /** @description Say what would become of each file, and write nothing. */
        readonly dryRun?: boolean;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['ImportedDocuments'];
      };
    };
    readonly responses: {
      /** @description What became of each file; also where some are refused. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['ImportReport'];
        };
      };
    };
  };
  readonly purgeEntities: {
    readonly parameters: {
      readonly query?: {
        /** @description As in the query of a broker. */
        readonly type?: string;
        /** @description As in the query of a broker. */
        readonly id?: string;
        /** @description As in the query of a broker. */
        readonly idPattern?: string;
        /** @description As in the query of a broker. */
        readonly attrs?: string;
        /** @description As in the query of a broker. */
        readonly q?: string;
        /** @description As in the query of a broker. */
        readonly georel?: string;
        /** @description As in the query of a broker. */
        readonly geometry?: string;
        /** @description As in the query of a broker. */
        readonly coordinates?: string;
        /** @description As in the query of a broker. */
        readonly geoproperty?: string;
        /** @description As in the query of a broker. */
        readonly geometryProperty?: string;
        /** @description As in the query of a broker. */
        readonly scopeQ?: string;
        /** @description As in the query of a broker. */
        readonly csf?: string;
        /** @description As in the query of a broker. */
        readonly expandValues?: string;
        /** @description As in the query of a broker. */
        readonly jsonKeys?: string;
        /** @description As in the query of a broker. */
        readonly local?: string;
        /** @description Attributes to remove from each match, instead of the entity. */
        readonly drop?: string;
        /** @description Attributes to keep of each match; all others are removed. */
        readonly keep?: string;
        /** @description A purge that matches more is refused before its first delete. */
        readonly maxAffected?: number;
        /** @description Deletes per second, at most. */
        readonly maxPerSecond?: number;
        /** @description `true`: nothing is deleted, the matches are counted. */
        readonly dryRun?: boolean;
        /** @description Whether what is deleted is archived before, so that it can be restored: `none`, `best-effort`, or `required` (what cannot be archived is not deleted). Never less than `PURGE_ARCHIVE`. */
        readonly archive?: 'none' | 'best-effort' | 'required';
        /** @description `ids`: what is deleted is listed, see `/purges/{purge}/ids`. */
        readonly record?: 'ids';
      };
      readonly header?: {
        /** @description respond-async, or return=representation (RFC 7240). */
        readonly Prefer?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description A dry run, or `Prefer: return=representation`. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json':
            | components['schemas']['PurgePreview']
            | components['schemas']['PurgeSummary'];
        };
      };
      /** @description With `Prefer: respond-async`: its record. */
      readonly 202: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Purge'];
        };
      };
      /** @description All matches are gone. The counts are in the headers Purge-*. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Some could not be deleted, or may be there still. */
      readonly 207: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['BatchOperationResult'];
        };
      };
    };
  };
  readonly purgeTemporalEntities: {
    readonly parameters: {
      readonly query?: {
        /** @description As in the query of a broker. */
        readonly type?: string;
        /** @description As in the query of a broker. */
        readonly id?: string;
        /** @description As in the query of a broker. */
        readonly idPattern?: string;
        /** @description As in the query of a broker. */
        readonly attrs?: string;
        /** @description As in the query of a broker. */
        readonly q?: string;
        /** @description As in the query of a broker. */
        readonly georel?: string;
        /** @description As in the query of a broker. */
        readonly geometry?: string;
        /** @description As in the query of a broker. */
        readonly coordinates?: string;
        /** @description As in the query of a broker. */
        readonly geoproperty?: string;
        /** @description As in the query of a broker. */
        readonly geometryProperty?: string;
        /** @description As in the query of a broker. */
        readonly scopeQ?: string;
        /** @description As in the query of a broker. */
        readonly csf?: string;
        /** @description As in the query of a broker. */
        readonly expandValues?: string;
        /** @description As in the query of a broker. */
        readonly jsonKeys?: string;
        /** @description As in the query of a broker. */
        readonly local?: string;
        /** @description As in the query of a broker. */
        readonly datasetId?: string;
        /** @description As in the query of a broker. */
        readonly timerel?: string;
        /** @description As in the query of a broker. */
        readonly timeAt?: string;
        /** @description As in the query of a broker. */
        readonly endTimeAt?: string;
        /** @description As in the query of a broker. */
        readonly timeproperty?: string;
        /** @description A purge that matches more is refused before its first delete. */
        readonly maxAffected?: number;
        /** @description Deletes per second, at most. */
        readonly maxPerSecond?: number;
        /** @description `true`: nothing is deleted, the matches are counted. */
        readonly dryRun?: boolean;
        /** @description Whether what is deleted is archived before, so that it can be restored: `none`, `best-effort`, or `required` (what cannot be archived is not deleted). Never less than `PURGE_ARCHIVE`. */
        readonly archive?: 'none' | 'best-effort' | 'required';
        /** @description `ids`: what is deleted is listed, see `/purges/{purge}/ids`. */
        readonly record?: 'ids';
      };
      readonly header?: {
        /** @description respond-async, or return=representation (RFC 7240). */
        readonly Prefer?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description A dry run, or `Prefer: return=representation`. */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json':
            | components['schemas']['PurgePreview']
            | components['schemas']['PurgeSummary'];
        };
      };
      /** @description With `Prefer: respond-async`: its record. */
      readonly 202: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Purge'];
        };
      };
      /** @description All matches are gone. The counts are in the headers Purge-*. */
      readonly 204: {
        headers: {
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Some could not be deleted, or may be there still. */
      readonly 207: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['BatchOperationResult'];
        };
      };
    };
  };
}
