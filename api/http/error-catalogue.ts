/** What a client sees of an error code (rest-api.md 3.6). */
export type CatalogueEntry = {
  /** Usual HTTP status when the code ends a whole request; inside `failed_items` it travels in a 200. */
  readonly status: number;
  /** Text of the code; `{name}` is filled in where it is raised. Clients compare these texts. */
  readonly message: string;
  readonly remediation?: string;
};

/** Every error code the API can answer with. Data only, hence longer than a module should be. */
export const ERROR_CATALOGUE: ReadonlyMap<number, CatalogueEntry> = new Map<number, CatalogueEntry>([
  [
    900,
    {
      status: 500,
      message:
        'One of the API child processes terminated abruptly. The API process pool is not usable anymore. Please restart the Wazuh API',
    },
  ],
  [901, { status: 500, message: 'API executor subprocess broke. A service restart may be needed' }],
  [902, { status: 404, message: 'API Endpoint only available on master node' }],
  [
    1000,
    {
      status: 500,
      message: 'Wazuh Internal Error',
      remediation:
        'Look into logs/manager.log, logs/cluster.log and logs/api.log below the installation for what led to it.',
    },
  ],
  [1005, { status: 500, message: 'Error reading file', remediation: 'Check that the service user may read the file.' }],
  [
    1006,
    {
      status: 400,
      message: 'File/directory does not exist or there is a problem with the permissions',
      remediation: 'Check the path, and that the service user may reach it.',
    },
  ],
  [1010, { status: 500, message: 'Unable to connect to queue' }],
  [1011, { status: 500, message: 'Error communicating with queue' }],
  [1012, { status: 400, message: 'Invalid message to queue' }],
  [
    1013,
    {
      status: 500,
      message: 'Unable to connect with socket',
      remediation: 'Check that the daemon runs; a restart makes its socket again.',
    },
  ],
  [
    1014,
    {
      status: 400,
      message: 'Error communicating with socket',
      remediation: 'Check that the daemon runs; a restart makes its socket again.',
    },
  ],
  [1015, { status: 400, message: 'Agent version is null. Was the agent ever connected?' }],
  [
    1016,
    {
      status: 500,
      message: 'Error moving file',
      remediation: 'Check that the service user may write to both directories.',
    },
  ],
  [1017, { status: 500, message: 'Some Wazuh daemons are not ready yet in node "{node_name}" ({not_ready_daemons})' }],
  [1018, { status: 400, message: 'Body request is not a valid JSON' }],
  [1019, { status: 400, message: 'Error trying to create backup file' }],
  [
    1020,
    {
      status: 500,
      message: 'Could not find any Wazuh log file',
      remediation: 'Check the directory logs below the installation.',
    },
  ],
  [
    1101,
    {
      status: 400,
      message: 'Requested component does not exist',
      remediation: 'Run `svc-analysisd -t` to see what is wrong with the configuration.',
    },
  ],
  [
    1102,
    {
      status: 400,
      message: 'Invalid section',
      remediation: 'Ask for one of the sections that this operation can show.',
    },
  ],
  [
    1103,
    {
      status: 400,
      message: 'Invalid field in section',
      remediation: 'Ask for the section without a field to see which fields it has.',
    },
  ],
  [1104, { status: 400, message: 'Invalid type', remediation: 'Use one of the documented types.' }],
  [1105, { status: 500, message: 'Error reading API configuration' }],
  [
    1106,
    {
      status: 400,
      message: 'Requested section not present in configuration',
      remediation: 'The section is not in the configuration file; add it there if it is needed.',
    },
  ],
  [1107, { status: 500, message: 'Internal options file not found' }],
  [1108, { status: 500, message: 'Value not found in internal_options.conf' }],
  [1109, { status: 400, message: 'Option must be a digit' }],
  [1110, { status: 400, message: 'Option value is out of the limits' }],
  [1111, { status: 400, message: "Remote group file updates are only available in 'agent.conf' file" }],
  [1112, { status: 400, message: 'Empty files are not supported', remediation: 'Send a file that has content.' }],
  [1113, { status: 400, message: 'XML syntax error', remediation: 'Correct the XML of the file.' }],
  [1114, { status: 400, message: 'Wazuh syntax error' }],
  [
    1115,
    {
      status: 400,
      message: 'Error executing verify-agent-conf',
      remediation: 'Correct the file and try again; verify-agent-conf shows what is wrong.',
    },
  ],
  [
    1116,
    {
      status: 400,
      message: 'Requested component configuration does not exist',
      remediation: 'See the operation in /docs for the components and configurations there are.',
    },
  ],
  [1117, { status: 400, message: 'Unable to connect with component. The component might be disabled.' }],
  [1118, { status: 500, message: 'Could not request component configuration' }],
  [1119, { status: 500, message: "Directory '/tmp' needs read, write & execution permission for 'wazuh' user" }],
  [
    1121,
    {
      status: 400,
      message: 'Error connecting with socket',
      remediation: 'Check that the module runs and is configured.',
    },
  ],
  [
    1122,
    {
      status: 404,
      message: 'Experimental features are disabled',
      remediation: 'Set experimental_features to yes in api/configuration/api.yaml.',
    },
  ],
  [
    1123,
    {
      status: 500,
      message: 'Error communicating with socket. Query too long, maximum allowed size for queries is 64 KB',
    },
  ],
  [
    1124,
    {
      status: 400,
      message: 'Remote command detected',
      remediation: 'Allow remote commands in api.yaml, or list this command as an exception there.',
    },
  ],
  [
    1125,
    {
      status: 400,
      message: 'Invalid ossec configuration',
      remediation: 'Send a complete and valid main configuration.',
    },
  ],
  [
    1126,
    {
      status: 400,
      message: 'Error updating ossec configuration',
      remediation: 'The supervisor writes the main configuration file: see that it runs, and logs/manager.log.',
    },
  ],
  [
    1127,
    {
      status: 400,
      message: 'Protected section was modified',
      remediation: 'Leave that section as it is, or lift its protection in api.yaml.',
    },
  ],
  [1128, { status: 400, message: 'Invalid configuration for the given component' }],
  [
    1129,
    {
      status: 400,
      message: 'Higher version agents detected',
      remediation: 'Allow agents of a higher version in api.yaml.',
    },
  ],
  [
    1130,
    {
      status: 400,
      message: 'Public Virus Total API Key detected',
      remediation: 'Use a premium key, or lift the protection in api.yaml.',
    },
  ],
  [
    1131,
    {
      status: 400,
      message: 'Virus Total API request error',
      remediation:
        'The key could not be checked: see that the service can be reached, or lift the protection in api.yaml.',
    },
  ],
  [
    1200,
    {
      status: 400,
      message: 'Error reading rules from `WAZUH_HOME/etc/ossec.conf`',
      remediation: 'Correct the ruleset section of the main configuration.',
    },
  ],
  [
    1201,
    {
      status: 400,
      message: 'Error reading rule files',
      remediation: 'Correct the ruleset section of the main configuration.',
    },
  ],
  [
    1202,
    {
      status: 400,
      message: "Argument 'status' must be: enabled, disabled or all",
      remediation: 'Use enabled, disabled or all.',
    },
  ],
  [
    1203,
    {
      status: 400,
      message: "Error in argument 'level'",
      remediation: 'Give a number, or two numbers with a dash between them.',
    },
  ],
  [1205, { status: 400, message: 'Requirement not valid', remediation: 'Use one of these values:' }],
  [
    1207,
    {
      status: 400,
      message: 'Error reading rule files, wrong permissions',
      remediation: 'Check that the service user may read the rule files.',
    },
  ],
  [
    1208,
    {
      status: 400,
      message: 'The rule does not exist or you do not have permission to see it',
      remediation: 'List the rules with GET /rules.',
    },
  ],
  [
    1209,
    {
      status: 400,
      message: "Invalid relative directory. A 'rule_dir' tag must be declared in ossec.conf ruleset section.",
      remediation: 'Name a directory that is a rule_dir of the ruleset section.',
    },
  ],
  [
    1210,
    {
      status: 400,
      message: 'Uploading, updating or deleting default rules is not allowed.',
      remediation: 'Put own rules into a directory of your own, for example etc/rules.',
    },
  ],
  [
    1211,
    {
      status: 400,
      message:
        "Invalid relative directory. A 'rule_dir' tag is declared in ossec.conf ruleset section, but the directory does not exist.",
      remediation: 'Create the directory, or name another rule_dir.',
    },
  ],
  [1307, { status: 400, message: 'Invalid parameters', remediation: 'Check the parameters.' }],
  [
    1308,
    {
      status: 400,
      message: 'Stats file does not exist',
      remediation: 'Statistics of a day are written while events arrive; ask for another date.',
    },
  ],
  [1309, { status: 500, message: 'Statistics file damaged' }],
  [1310, { status: 400, message: 'Invalid agent ID', remediation: 'Ask a real agent for this component.' }],
  [1400, { status: 400, message: 'Invalid offset' }],
  [1401, { status: 400, message: 'Invalid limit' }],
  [
    1402,
    {
      status: 400,
      message: 'Invalid sort_ascending field',
      remediation: 'Use true for ascending or false for descending order.',
    },
  ],
  [1403, { status: 400, message: 'Not a valid sort field', remediation: 'Please, use only allowed sort fields' }],
  [1405, { status: 400, message: 'Specified limit exceeds maximum allowed', remediation: 'Choose a smaller limit.' }],
  [1406, { status: 400, message: '0 is not a valid limit', remediation: 'Choose a limit of at least 1.' }],
  [1407, { status: 400, message: 'Query does not match expected format' }],
  [1408, { status: 400, message: 'Field does not exist' }],
  [1409, { status: 400, message: 'Invalid query operator' }],
  [1410, { status: 400, message: 'Selecting more than one field in distinct mode' }],
  [1411, { status: 400, message: 'TimeFrame is not valid' }],
  [
    1412,
    {
      status: 400,
      message: 'Date filter not valid. Valid formats are YYYY-MM-DD HH:mm:ss, YYYY-MM-DDTHH:mm:ssZ or YYYY-MM-DD',
    },
  ],
  [1413, { status: 400, message: 'Error reading rules file' }],
  [
    1414,
    { status: 400, message: 'Error reading rules file', remediation: 'Check that the service user may read the file.' },
  ],
  [1415, { status: 400, message: 'Rules file not found', remediation: 'GET /rules/files lists the files there are.' }],
  [
    1500,
    {
      status: 500,
      message: 'Error reading decoders from ossec.conf',
      remediation: 'Correct the ruleset section of the main configuration.',
    },
  ],
  [1501, { status: 400, message: 'Error reading decoders file' }],
  [
    1502,
    {
      status: 400,
      message: 'Error reading decoders file',
      remediation: 'Check that the service user may read the file.',
    },
  ],
  [
    1503,
    { status: 400, message: 'Decoders file not found', remediation: 'GET /decoders/files lists the files there are.' },
  ],
  [
    1504,
    {
      status: 400,
      message: 'The decoder does not exist or you do not have permission to see it',
      remediation: 'List the decoders with GET /decoders.',
    },
  ],
  [
    1505,
    {
      status: 400,
      message: "Invalid relative directory. A 'decoder_dir' tag must be declared in ossec.conf ruleset section.",
      remediation: 'Name a directory that is a decoder_dir of the ruleset section.',
    },
  ],
  [
    1506,
    {
      status: 400,
      message: 'Uploading, updating or deleting default decoders is not allowed.',
      remediation: 'Put own decoders into a directory of your own, for example etc/decoders.',
    },
  ],
  [
    1507,
    {
      status: 400,
      message:
        "Invalid relative directory. A 'decoder_dir' tag is declared in ossec.conf ruleset section, but the directory does not exist.",
      remediation: 'Create the directory, or name another decoder_dir.',
    },
  ],
  [1603, { status: 500, message: 'Invalid status. Valid statuses are: all, solved and outstanding' }],
  [1650, { status: 400, message: 'Active response - Command not specified' }],
  [
    1652,
    {
      status: 400,
      message: 'The command used is not defined in the configuration.',
      remediation: 'Define the command in the main configuration.',
    },
  ],
  [
    1701,
    {
      status: 404,
      message: 'Agent does not exist',
      remediation: 'GET /agents?select=id,name shows the agents there are.',
    },
  ],
  [
    1703,
    {
      status: 400,
      message: 'Action not available for Manager (agent 000)',
      remediation: 'Choose an agent other than 000; GET /agents?select=id,name shows them.',
    },
  ],
  [1705, { status: 400, message: 'There is an agent with the same name', remediation: 'Choose another name.' }],
  [
    1706,
    {
      status: 400,
      message: 'There is an agent with the same IP or the IP is invalid',
      remediation: 'Choose another address.',
    },
  ],
  [
    1707,
    {
      status: 400,
      message: 'Cannot send request, agent is not active',
      remediation: 'See that the agent is connected and try again.',
    },
  ],
  [1708, { status: 400, message: 'There is an agent with the same ID', remediation: 'Choose another id.' }],
  [1709, { status: 400, message: 'Too short key size', remediation: 'A key has exactly 64 letters and digits.' }],
  [1710, { status: 404, message: 'The group does not exist', remediation: 'GET /groups shows the groups there are.' }],
  [1711, { status: 400, message: 'The group already exists', remediation: 'Choose another group name.' }],
  [1712, { status: 400, message: 'Default group is not deletable', remediation: 'The default group always exists.' }],
  [
    1713,
    {
      status: 400,
      message: 'Invalid group ID. Some IDs are restricted for internal purposes',
      remediation: 'Choose another group name.',
    },
  ],
  [
    1722,
    {
      status: 400,
      message: 'Incorrect format for group_id',
      remediation: 'Letters a to z and A to Z, digits, dot, underscore and dash are allowed.',
    },
  ],
  [1723, { status: 400, message: 'Hash algorithm not available' }],
  [1724, { status: 400, message: 'Not a valid select field', remediation: 'Select fields that the operation has.' }],
  [
    1725,
    {
      status: 500,
      message: 'Error registering a new agent',
      remediation: 'Check the data of the agent and try again.',
    },
  ],
  [
    1726,
    {
      status: 400,
      message: 'Wazuh authd is not running',
      remediation: 'Start svc-authd, or see in logs/manager.log why it stopped.',
    },
  ],
  [
    1727,
    {
      status: 500,
      message: 'Error listing group files',
      remediation: 'GET /groups/{group_id}/files lists the files of a group.',
    },
  ],
  [1728, { status: 400, message: 'Invalid node type', remediation: 'A node is a master or a worker.' }],
  [
    1730,
    {
      status: 404,
      message: 'Node does not exist',
      remediation: 'See with `cluster_control -l` or GET /cluster/nodes which nodes are connected.',
    },
  ],
  [
    1731,
    {
      status: 400,
      message: 'Agent is not eligible for the action to be performed',
      remediation: 'Choose agents that meet the conditions.',
    },
  ],
  [
    1734,
    {
      status: 400,
      message: 'Error removing agent from group',
      remediation: 'The agent is not in this group; see its groups with GET /agents.',
    },
  ],
  [
    1735,
    { status: 400, message: 'Agent version is not compatible with this feature', remediation: 'Update the agent.' },
  ],
  [
    1737,
    {
      status: 400,
      message: 'Maximum number of groups per multigroup is 128',
      remediation: 'Take the agent out of a group first.',
    },
  ],
  [1738, { status: 400, message: 'Agent name is too long', remediation: 'A name has at most 128 characters.' }],
  [
    1740,
    {
      status: 400,
      message: 'Action only available for active agents',
      remediation: 'See that the agent is connected.',
    },
  ],
  [1743, { status: 500, message: 'Error running Wazuh syntax validator' }],
  [1745, { status: 400, message: "Agent only belongs to 'default' and it cannot be unassigned from this group." }],
  [
    1750,
    {
      status: 400,
      message: 'Could not send restart command, active-response is disabled in the agent',
      remediation: 'Enable active response in the configuration of the agent.',
    },
  ],
  [
    1751,
    { status: 400, message: 'Could not assign agent to group', remediation: 'The agent is in this group already.' },
  ],
  [1752, { status: 400, message: 'Could not force single group for the agent' }],
  [
    1757,
    { status: 500, message: 'Error deleting an agent', remediation: 'Check the data of the agent and try again.' },
  ],
  [
    1760,
    { status: 400, message: "Feature only available for older agent versions, it doesn't apply for more recent ones." },
  ],
  [1800, { status: 400, message: 'Bad format in CDB list {path}' }],
  [1801, { status: 400, message: "Wrong 'path' parameter", remediation: 'Check the path.' }],
  [1802, { status: 400, message: 'Lists file not found', remediation: 'GET /lists/files lists the files there are.' }],
  [
    1803,
    { status: 400, message: 'Error reading lists file', remediation: 'Check that the service user may read the file.' },
  ],
  [1804, { status: 400, message: 'Error reading lists file', remediation: 'Check the path of the file.' }],
  [
    1805,
    {
      status: 400,
      message: 'File with the same name already exists in a subdirectory.',
      remediation: 'Choose a name that no list below etc/lists has.',
    },
  ],
  [1806, { status: 400, message: 'Error trying to create CDB list file.' }],
  [1901, { status: 500, message: "'execq' socket has not been created" }],
  [1902, { status: 500, message: "Connection to 'execq' socket failed" }],
  [1904, { status: 500, message: "Bad data from 'wcom'" }],
  [
    1905,
    {
      status: 400,
      message: 'File could not be updated, it already exists',
      remediation: 'Choose another name, or send overwrite=true to replace the file.',
    },
  ],
  [1906, { status: 400, message: 'File does not exist', remediation: 'Check the name and the directory.' }],
  [
    1907,
    {
      status: 400,
      message: 'File could not be deleted',
      remediation: 'Check that the service user may delete the file.',
    },
  ],
  [
    1908,
    {
      status: 400,
      message: 'Error validating configuration',
      remediation: 'Correct the files that the message names.',
    },
  ],
  [1911, { status: 400, message: 'Error parsing body request to UTF-8', remediation: 'Send text in UTF-8.' }],
  [1912, { status: 400, message: 'Body is empty', remediation: 'Send the content of the file as the body.' }],
  [
    1913,
    {
      status: 500,
      message:
        'Error getting manager status, directory /proc is not found or permissions to see its status are not granted',
      remediation: 'Check that /proc is mounted and readable.',
    },
  ],
  [
    1914,
    { status: 400, message: 'Failed to reload ruleset', remediation: 'See logs/manager.log for what does not load.' },
  ],
  [2003, { status: 400, message: 'Error in wazuhdb request', remediation: 'Check the request.' }],
  [2004, { status: 400, message: 'Database query not valid' }],
  [2005, { status: 500, message: 'Could not connect to wdb socket' }],
  [2006, { status: 400, message: 'Received JSON from Wazuh DB is not correctly formatted' }],
  [2007, { status: 400, message: 'Error retrieving data from Wazuh DB' }],
  [
    2008,
    {
      status: 500,
      message: 'Corrupted RBAC database',
      remediation:
        'Stop svc-apid and restore api/configuration/security/rbac from a backup, or remove it to start with the defaults.',
    },
  ],
  [2009, { status: 500, message: 'Pagination error. Response from wazuh-db was over the maximum socket buffer size' }],
  [2010, { status: 500, message: 'The requested read operation did not complete fully' }],
  [2011, { status: 500, message: 'Could not connect to the wazuh-db unix socket' }],
  [2012, { status: 400, message: 'Invalid wazuh-db HTTP request' }],
  [2013, { status: 400, message: 'Error sending HTTP request' }],
  [2014, { status: 500, message: 'The wazuh-db client connection timeout has been exceeded' }],
  [2015, { status: 500, message: 'Invalid request URL scheme' }],
  [2016, { status: 500, message: 'Invalid unix socket path' }],
  [2017, { status: 500, message: 'Could not retrieve agents synchronization information from wazuh-db' }],
  [2100, { status: 500, message: 'Error in CTI service request' }],
  [3000, { status: 500, message: 'Cluster' }],
  [3001, { status: 400, message: 'Error creating zip file' }],
  [3002, { status: 500, message: 'Error creating PID file' }],
  [3003, { status: 500, message: 'Error during file handling' }],
  [
    3004,
    {
      status: 400,
      message: 'Error in cluster configuration',
      remediation: 'Correct the cluster section of the main configuration.',
    },
  ],
  [3005, { status: 400, message: 'Error reading cluster JSON file' }],
  [
    3006,
    {
      status: 400,
      message: 'Error reading cluster configuration',
      remediation: 'Correct the cluster section of the main configuration.',
    },
  ],
  [3007, { status: 500, message: 'Client.keys file received in master node' }],
  [3009, { status: 500, message: 'Error executing distributed API request' }],
  [3012, { status: 500, message: 'Cluster is not running' }],
  [
    3013,
    {
      status: 400,
      message: 'Cluster is not running, it might be disabled in `WAZUH_HOME/etc/ossec.conf`',
      remediation: 'Enable the cluster in the main configuration to use this operation.',
    },
  ],
  [3015, { status: 500, message: 'Cannot access directory' }],
  [3016, { status: 500, message: 'Received an error response' }],
  [3018, { status: 500, message: 'Error sending request' }],
  [3020, { status: 500, message: 'Timeout sending request', remediation: 'Try again.' }],
  [3021, { status: 500, message: 'Timeout executing API request' }],
  [3022, { status: 500, message: 'Unknown node ID', remediation: 'Check the name of the node.' }],
  [
    3023,
    {
      status: 500,
      message: 'Worker node is not connected to master',
      remediation: 'See logs/cluster.log of the node for connection errors.',
    },
  ],
  [3024, { status: 500, message: 'Length of command exceeds limit defined in wazuh.cluster.common.Handler.cmd_len.' }],
  [
    3025,
    { status: 500, message: 'Could not decrypt message', remediation: 'Give the node the cluster key of the master.' },
  ],
  [3026, { status: 500, message: 'Error sending request: Memory error. Request chunk size divided by 2.' }],
  [3027, { status: 500, message: 'Unknown received task name' }],
  [3028, { status: 500, message: 'Worker node ID already exists', remediation: 'Give every node a name of its own.' }],
  [
    3029,
    {
      status: 500,
      message: 'Connected worker with same name as the master',
      remediation: 'Give every node a name of its own.',
    },
  ],
  [
    3030,
    {
      status: 500,
      message: 'Worker does not belong to the same cluster',
      remediation: 'Give the node the cluster name of the master.',
    },
  ],
  [
    3031,
    {
      status: 500,
      message: 'Worker and master versions are not the same',
      remediation: 'Bring all nodes to one version.',
    },
  ],
  [3032, { status: 500, message: 'Could not forward DAPI request. Connection not available.' }],
  [3034, { status: 500, message: 'Error sending file. File not found.' }],
  [3035, { status: 500, message: "String couldn't be found" }],
  [3036, { status: 500, message: "JSON couldn't be loaded" }],
  [3037, { status: 500, message: 'Error while processing Agent-info chunks' }],
  [3038, { status: 500, message: 'Error while processing extra-valid files' }],
  [3039, { status: 500, message: 'Timeout while waiting to receive a file' }],
  [3040, { status: 500, message: 'Error while waiting to receive a file' }],
  [3041, { status: 500, message: 'Server status check timed out after adding new servers' }],
  [3042, { status: 500, message: 'User configuration is not valid' }],
  [3043, { status: 500, message: 'Could not initialize Proxy API' }],
  [3044, { status: 500, message: 'Could not connect to the HAProxy dataplane API' }],
  [3045, { status: 500, message: 'Could not connect to HAProxy' }],
  [3046, { status: 500, message: 'Invalid credentials for the Proxy API' }],
  [3047, { status: 500, message: 'Invalid HAProxy Dataplane API specification configured' }],
  [3048, { status: 500, message: 'Could not detect a valid HAProxy process linked to the Dataplane API' }],
  [3050, { status: 500, message: 'Payload size exceeds maximum allowed limit' }],
  [3051, { status: 500, message: 'Too many concurrent divided messages' }],
  [3052, { status: 500, message: 'Invalid cluster file parameter' }],
  [3053, { status: 500, message: 'Decompressed file exceeds the maximum allowed size' }],
  [
    3060,
    {
      status: 500,
      message: 'Invalid node name format',
      remediation: 'Use letters, digits, dots, underscores and dashes in node names.',
    },
  ],
  [
    4000,
    {
      status: 403,
      message: 'Permission denied',
      remediation: 'Ask an administrator for a role whose policies allow this action on this resource.',
    },
  ],
  [4001, { status: 400, message: 'The body of the request is empty, you must specify what you want to modify' }],
  [
    4002,
    {
      status: 400,
      message: 'The specified role does not exist',
      remediation: 'Create the role with POST /security/roles.',
    },
  ],
  [4003, { status: 400, message: 'The specified rule is invalid', remediation: 'A rule is one JSON object.' }],
  [4005, { status: 400, message: 'The specified name or rule already exists' }],
  [
    4006,
    {
      status: 400,
      message: 'The specified policy is invalid',
      remediation:
        'A policy has exactly actions, resources and effect; an action is two words joined by `:`, a resource three, for example agent:id:001.',
    },
  ],
  [
    4007,
    {
      status: 400,
      message: 'The specified policy does not exist',
      remediation: 'Create the policy with POST /security/policies.',
    },
  ],
  [4008, { status: 400, message: "The specified resource is required for a correct Wazuh's functionality" }],
  [4009, { status: 400, message: 'The specified name or policy already exists' }],
  [
    4010,
    {
      status: 400,
      message: 'The specified role-policy relation does not exist',
      remediation: 'Link them with POST /security/roles/{role_id}/policies.',
    },
  ],
  [4011, { status: 400, message: 'The specified role-policy link already exist' }],
  [4013, { status: 400, message: 'The specified name already exists' }],
  [
    4016,
    {
      status: 400,
      message: 'The specified user-role relation does not exist',
      remediation: 'Link them with POST /security/users/{user_id}/roles.',
    },
  ],
  [4017, { status: 400, message: 'The specified user-role relation already exists' }],
  [4018, { status: 400, message: 'Level cannot be a negative number' }],
  [
    4019,
    {
      status: 400,
      message: 'Invalid resource specified',
      remediation: 'GET /security/resources lists the kinds of resources.',
    },
  ],
  [4020, { status: 400, message: 'Invalid endpoint specified', remediation: 'These are the operations:' }],
  [4021, { status: 400, message: 'Error reading security configuration' }],
  [
    4022,
    {
      status: 400,
      message: 'The specified security rule does not exist',
      remediation: 'Create the rule with POST /security/rules.',
    },
  ],
  [4023, { status: 400, message: 'The specified role-rule relation already exist' }],
  [
    4024,
    {
      status: 400,
      message: 'The specified role-rule relation does not exist',
      remediation: 'Link them with POST /security/roles/{role_id}/rules.',
    },
  ],
  [4025, { status: 400, message: 'The specify relationship could not be removed' }],
  [
    4500,
    {
      status: 400,
      message: 'The specified resources are invalid',
      remediation: 'Correct the resources of the policy; at most two may be joined with `&`.',
    },
  ],
  [
    5000,
    {
      status: 400,
      message: 'The user could not be created',
      remediation: 'See with GET /security/users whether the name is taken.',
    },
  ],
  [
    5001,
    { status: 400, message: 'The user does not exist', remediation: 'Create the user with POST /security/users.' },
  ],
  [5004, { status: 400, message: 'The user could not be removed or updated', remediation: 'Built-in users stay.' }],
  [
    5007,
    {
      status: 400,
      message: 'Insecure user password provided',
      remediation: 'Use at least one lower-case letter, one upper-case letter, one digit and one other character.',
    },
  ],
  [
    5008,
    {
      status: 400,
      message: 'The current user cannot be deleted',
      remediation: 'Another user with the permission can delete this one.',
    },
  ],
  [5009, { status: 400, message: 'Insecure user password provided', remediation: 'Use 8 to 64 characters.' }],
  [
    5010,
    { status: 400, message: 'The value of the parameter allow_run_as is invalid', remediation: 'Use true or false.' },
  ],
  [
    5011,
    {
      status: 400,
      message: 'Administrator users can only be modified by themselves',
      remediation: 'Log in as that user.',
    },
  ],
  [
    6000,
    {
      status: 403,
      message:
        'Limit of login attempts reached. The current IP has been blocked due to a high number of login attempts',
    },
  ],
  [
    6001,
    {
      status: 429,
      message: 'Maximum number of requests per minute reached',
      remediation: 'The limit is access.max_request_per_minute in api/configuration/api.yaml.',
    },
  ],
  [6002, { status: 406, message: 'The body type is not the one specified in the content-type' }],
  [
    6003,
    {
      status: 500,
      message: 'Error trying to load the JWT secret',
      remediation: 'Check the key pair in api/configuration/security.',
    },
  ],
  [
    6004,
    {
      status: 403,
      message: 'The current user does not have authentication enabled through authorization context',
      remediation: 'Allow it with PUT /security/users/{user_id}/run_as.',
    },
  ],
  [6005, { status: 429, message: 'Maximum number of requests per minute reached' }],
  [7000, { status: 400, message: 'Error trying to get logtest response' }],
  [
    7001,
    {
      status: 400,
      message: 'Error trying to read logtest session token',
      remediation: 'Send the token of the session in the field token.',
    },
  ],
]);
