import { refusals } from './refusal.js';
import { EntityStore } from './store.js';

const TENANT = /^[\x21-\x7e]{1,256}$/;

/** The stores of all tenants (ETSI GS CIM 009 V1.9.1, clause 5.5.10). The default tenant always exists. */
export class Tenants {
  readonly #stores = new Map<string | undefined, EntityStore>([[undefined, new EntityStore()]]);

  /** The store of a tenant. @throws Refusal NonexistentTenant */
  existing(tenant: string | undefined): EntityStore {
    const store = this.#stores.get(tenant);
    if (store === undefined) throw refusals.nonexistentTenant(`Tenant ${String(tenant)} does not exist`);
    return store;
  }

  /** The store of a tenant for a creating operation, which creates the tenant too. @throws Refusal InvalidRequest */
  created(tenant: string | undefined): EntityStore {
    const present = this.#stores.get(tenant);
    if (present !== undefined) return present;
    if (tenant !== undefined && !TENANT.test(tenant))
      throw refusals.invalidRequest('NGSILD-Tenant is no tenant name');
    const store = new EntityStore();
    this.#stores.set(tenant, store);
    return store;
  }

  /** The store of a tenant, if there is one. */
  find(tenant: string | undefined): EntityStore | undefined {
    return this.#stores.get(tenant);
  }
}
