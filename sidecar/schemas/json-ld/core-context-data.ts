/** Versions of the NGSI-LD core @context that are bundled, oldest first (ETSI GS CIM 009, annex B of each edition). */
export const CORE_CONTEXT_VERSIONS = ['1.3', '1.4', '1.5', '1.6', '1.7', '1.8', '1.9'] as const;

export type CoreContextVersion = (typeof CORE_CONTEXT_VERSIONS)[number];

/** Terms that have the same form of definition in the same versions. */
export interface CoreTermGroup {
  readonly since: CoreContextVersion;
  /** The last version that has the terms; by default the newest one. */
  readonly until?: CoreContextVersion;
  readonly '@type'?: string;
  readonly '@container'?: string;
  /**
   * Separated by white space. `term` means the IRI `ngsi-ld:term`, and `term=IRI` another IRI. An IRI that starts
   * with `:` is one of `ngsi-ld:`.
   */
  readonly terms: string;
}

/** Terms that are defined by an IRI alone, or by an IRI and one coercion. */
export const CORE_TERM_GROUPS: readonly CoreTermGroup[] = [
  {
    since: '1.3',
    terms: `
      ngsi-ld=https://uri.etsi.org/ngsi-ld/ geojson=https://purl.org/geojson/vocab# id=@id type=@type`,
  },
  {
    since: '1.3',
    terms: `
      Attribute AttributeList ContextSourceNotification ContextSourceRegistration Date DateTime EntityType
      EntityTypeInfo EntityTypeList GeoProperty Notification Property Relationship Subscription TemporalProperty Time
      Feature=geojson:Feature FeatureCollection=geojson:FeatureCollection
      GeometryCollection=geojson:GeometryCollection LineString=geojson:LineString
      MultiLineString=geojson:MultiLineString MultiPoint=geojson:MultiPoint MultiPolygon=geojson:MultiPolygon
      Point=geojson:Point Polygon=geojson:Polygon
      accept csf data description=http://purl.org/dc/terms/description detail endpoint entities entityCount error
      errors format geoQ geometry=geojson:geometry geoproperty georel idPattern information isActive location
      managementInterval notification observationInterval observationSpace operationSpace
      properties=geojson:properties q reason registrationName status subscriptionName temporalQ throttling
      timeInterval timeproperty timerel timesSent title=http://purl.org/dc/terms/title triggerReason unchanged
      unitCode updated uri value=:hasValue`,
  },
  // Most editions map these two terms to their own names, and thereby into the default vocabulary.
  {
    since: '1.3',
    until: '1.4',
    terms: 'attributeCount=attributeCount attributeDetails=attributeDetails',
  },
  { since: '1.5', until: '1.5', terms: 'attributeCount attributeDetails' },
  {
    since: '1.6',
    until: '1.8',
    terms: 'attributeCount=attributeCount attributeDetails=attributeDetails',
  },
  { since: '1.9', terms: 'attributeCount attributeDetails' },
  { since: '1.5', terms: 'LanguageProperty attrs lang scope scopeQ' },
  {
    since: '1.6',
    terms: `
      cacheDuration contextSourceInfo cooldown key=:hasKey localOnly management mode notUpdated notificationTrigger
      notifierInfo operations previousValue=:hasPreviousValue receiverInfo refreshRate registrationId showChanges
      sysAttrs timeout timesFailed`,
  },
  { since: '1.7', until: '1.7', terms: 'VocabularyProperty' },
  {
    since: '1.8',
    terms: `
      ContextSourceIdentity JsonProperty ListProperty ListRelationship VocabProperty containedBy=:isContainedBy
      contextSourceAlias contextSourceUptime entity join joinLevel=:hasJoinLevel linkedMaps`,
  },
  {
    since: '1.9',
    terms: `
      EntityMap ExecutionResultDetails Snapshot SnapshotNotification aggrMethods aggrParams aggrPeriodDuration
      collation entityMapLifetime=:hasEntityMapLifetime expandValues jsonKeys jsonldContext
      langString=http://www.w3.org/1999/02/22-rdf-syntax-ns#langString lastN ngsildConformance omit ordering pick
      resultStatus snapshotId snapshotLifetime snapshotPriority snapshotStatus splitEntities=:hasSplitEntities`,
  },
  {
    since: '1.3',
    '@type': 'DateTime',
    terms: `
      createdAt endAt endTimeAt expiresAt lastFailure lastNotification lastSuccess modifiedAt notifiedAt observedAt
      startAt timeAt`,
  },
  { since: '1.6', '@type': 'DateTime', terms: 'deletedAt' },
  { since: '1.8', '@type': 'DateTime', terms: 'contextSourceTimeAt' },
  { since: '1.9', '@type': 'DateTime', terms: 'lastUsedAt' },
  {
    since: '1.3',
    '@type': '@id',
    terms: 'datasetId entityId instanceId object=:hasObject subscriptionId success',
  },
  { since: '1.5', '@type': '@id', terms: 'tenant' },
  { since: '1.6', '@type': '@id', terms: 'previousObject=:hasPreviousObject' },
  {
    since: '1.3',
    '@type': '@vocab',
    terms: `
      attributeList attributeName attributeNames attributeTypes attributes propertyNames relationshipNames typeList
      typeName typeNames watchedAttributes`,
  },
  { since: '1.7', '@type': '@vocab', terms: 'previousVocab=:hasPreviousVocab vocab=:hasVocab' },
  { since: '1.8', '@type': '@vocab', terms: 'objectType=:hasObjectType' },
  { since: '1.9', '@type': '@vocab', terms: 'valueType=:hasValueType' },
  {
    since: '1.8',
    '@type': '@json',
    terms: 'contextSourceExtras json=:hasJSON previousJson=:hasPreviousJson',
  },
  { since: '1.9', '@type': '@json', terms: 'problemDetails' },
  {
    since: '1.3',
    '@container': '@list',
    terms: 'bbox=geojson:bbox coordinates=geojson:coordinates values=:hasValues',
  },
  {
    since: '1.4',
    '@container': '@list',
    terms: 'avg distinctCount max min stddev sum sumsq totalCount',
  },
  { since: '1.3', until: '1.5', '@type': '@id', '@container': '@list', terms: 'objects=:hasObjects' },
  {
    since: '1.6',
    '@container': '@list',
    terms: 'languageMaps=:hasLanguageMaps objects=:hasObjects',
  },
  { since: '1.7', '@container': '@list', terms: 'vocabs=:hasVocabs' },
  { since: '1.8', until: '1.8', '@container': '@list', terms: 'objectsLists=:hasObjectsLists' },
  {
    since: '1.8',
    '@container': '@list',
    terms: `
      entityList jsons objectList=:hasObjectList previousObjectList=:hasPreviousObjectList
      previousValueList=:hasPreviousValueList valueList=:hasValueList valueLists=:hasValueLists`,
  },
  {
    since: '1.9',
    '@container': '@list',
    terms: `
      objectLists=:hasObjectLists orderBy snapshotQueries snapshotQueriesDetails snapshotTemporalQueries
      snapshotTemporalQueriesDetails`,
  },
  { since: '1.3', '@container': '@set', terms: 'features=geojson:features' },
  { since: '1.7', '@container': '@index', terms: 'dataset=:hasDataset' },
  { since: '1.8', until: '1.8', terms: 'entityMap=:hasEntityMap' },
  { since: '1.9', '@container': '@index', terms: 'entityMap=:hasEntityMap' },
  { since: '1.5', '@container': '@language', terms: 'languageMap=:hasLanguageMap' },
  { since: '1.6', '@container': '@language', terms: 'previousLanguageMap=:hasPreviousLanguageMap' },
];
