import { hostname } from 'node:os';
import { COMPATIBILITY_VERSION, productVersion } from '../../lib/product/version.js';
import type { OperationHandlers } from '../http/api-request.js';
import { dataResult } from '../http/envelope.js';
import { API_TITLE } from '../product-names.js';

/** `GET /` (rest-api.md 6.1). */
export function infoRoutes(now: () => Date): OperationHandlers {
  // Clients compare api_version; the product's own version is its revision (product.md 10, "Two versions").
  const revision = productVersion();
  return {
    getApiInfo: () =>
      dataResult({
        title: API_TITLE,
        api_version: COMPATIBILITY_VERSION,
        revision,
        license_name: 'Apache-2.0',
        license_url: 'https://www.apache.org/licenses/LICENSE-2.0',
        hostname: hostname(),
        timestamp: now()
          .toISOString()
          .replace(/\.\d{3}Z$/, 'Z'),
      }),
  };
}
