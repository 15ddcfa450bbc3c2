/**
 * An agent.conf as large sites have it: blocks for everyone, for Linux, Windows and macOS, for a profile and for one host,
 * with every section agents take from a manager.
 */
export const LARGE_AGENT_CONF = `<!-- For everyone -->
<agent_config>
  <client_buffer>
    <disabled>no</disabled>
    <queue_size>20000</queue_size>
    <events_per_second>750</events_per_second>
  </client_buffer>
  <client>
    <force_reconnect_interval>12h</force_reconnect_interval>
  </client>
  <labels>
    <label key="site">north & south</label>
    <label key="owner.team" hidden="yes">platform</label>
  </labels>
  <sca>
    <enabled>yes</enabled>
    <scan_on_start>yes</scan_on_start>
    <interval>12h</interval>
    <skip_nfs>yes</skip_nfs>
    <policies>
      <policy>etc/shared/site_baseline.yml</policy>
      <policy enabled="no">ruleset/sca/cis_debian10.yml</policy>
    </policies>
  </sca>
  <wodle name="syscollector">
    <disabled>no</disabled>
    <interval>1h</interval>
    <scan_on_start>yes</scan_on_start>
    <hardware>yes</hardware>
    <os>yes</os>
    <network>yes</network>
    <packages>yes</packages>
    <ports all="no">yes</ports>
    <processes>yes</processes>
    <users>yes</users>
    <groups>yes</groups>
    <services>yes</services>
    <browser_extensions>no</browser_extensions>
    <hotfixes>yes</hotfixes>
    <synchronization>
      <max_eps>10</max_eps>
    </synchronization>
  </wodle>
  <active-response>
    <disabled>no</disabled>
    <ca_store>etc/wpk_root.pem</ca_store>
    <ca_verification>yes</ca_verification>
  </active-response>
  <agent-upgrade>
    <enabled>yes</enabled>
  </agent-upgrade>
</agent_config>

<agent_config os="Linux">
  <rootcheck>
    <disabled>no</disabled>
    <check_files>yes</check_files>
    <check_trojans>yes</check_trojans>
    <check_dev>yes</check_dev>
    <check_sys>yes</check_sys>
    <check_pids>yes</check_pids>
    <check_ports>yes</check_ports>
    <check_if>yes</check_if>
    <frequency>43200</frequency>
    <rootkit_files>etc/shared/rootkit_files.txt</rootkit_files>
    <rootkit_trojans>etc/shared/rootkit_trojans.txt</rootkit_trojans>
    <system_audit>etc/shared/system_audit_rcl.txt</system_audit>
    <skip_nfs>yes</skip_nfs>
    <ignore>/var/lib/containerd</ignore>
    <ignore type="sregex">/overlay2/</ignore>
  </rootcheck>
  <syscheck>
    <disabled>no</disabled>
    <frequency>43200</frequency>
    <scan_on_start>yes</scan_on_start>
    <directories check_all="yes" realtime="yes" report_changes="yes" tags="base,etc">/etc,/usr/bin,/usr/sbin</directories>
    <directories check_all="yes" whodata="yes" recursion_level="3" restrict=".conf$|.cnf$">/srv/app</directories>
    <directories check_sum="yes" follow_symbolic_link="yes" diff_size_limit="10MB">/opt/*/bin</directories>
    <ignore>/etc/mtab</ignore>
    <ignore type="sregex">.log$|.swp$</ignore>
    <nodiff>/etc/ssl/private.key</nodiff>
    <skip_nfs>yes</skip_nfs>
    <skip_dev>yes</skip_dev>
    <skip_proc>yes</skip_proc>
    <skip_sys>yes</skip_sys>
    <process_priority>10</process_priority>
    <max_eps>50</max_eps>
    <file_limit>
      <enabled>yes</enabled>
      <entries>100000</entries>
    </file_limit>
    <whodata>
      <restart_audit>yes</restart_audit>
      <audit_key>site_rules,other</audit_key>
      <startup_healthcheck>no</startup_healthcheck>
    </whodata>
    <diff>
      <disk_quota>
        <enabled>yes</enabled>
        <limit>1GB</limit>
      </disk_quota>
      <file_size>
        <enabled>yes</enabled>
        <limit>50MB</limit>
      </file_size>
      <nodiff>/etc/ssl/other.key</nodiff>
    </diff>
    <synchronization>
      <enabled>yes</enabled>
      <interval>5m</interval>
      <max_interval>1h</max_interval>
      <max_eps>10</max_eps>
    </synchronization>
  </syscheck>
  <localfile>
    <log_format>journald</log_format>
    <location>journald</location>
    <filter field="_SYSTEMD_UNIT" ignore_if_missing="yes">^ssh\\.service$</filter>
  </localfile>
  <localfile>
    <log_format>syslog</log_format>
    <location>/var/log/app/*.log</location>
    <exclude>/var/log/app/debug*.log</exclude>
    <ignore type="osmatch">healthcheck</ignore>
    <only-future-events max-size="20MB">no</only-future-events>
  </localfile>
  <localfile>
    <log_format>json</log_format>
    <location>/var/log/suricata/eve.json</location>
    <label key="@source">suricata</label>
    <out_format>$(timestamp) $(hostname) eve: $(log)</out_format>
  </localfile>
  <localfile>
    <log_format>multi-line-regex</log_format>
    <location>/var/log/tomcat/catalina.%Y-%m-%d.log</location>
    <multiline_regex match="start" replace="wspace" timeout="10">^\\d\\d-\\w+-\\d{4}</multiline_regex>
  </localfile>
  <localfile>
    <log_format>full_command</log_format>
    <alias>listening ports</alias>
    <command>ss -tulpn | sed 's/\\s\\+/ /g'</command>
    <frequency>360</frequency>
  </localfile>
  <wodle name="command">
    <disabled>no</disabled>
    <tag>disk-health</tag>
    <command>/usr/local/bin/disk-health --json</command>
    <interval>6h</interval>
    <ignore_output>no</ignore_output>
    <run_on_start>yes</run_on_start>
    <timeout>30</timeout>
    <verify_sha256>9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08</verify_sha256>
  </wodle>
  <wodle name="docker-listener">
    <interval>10m</interval>
    <attempts>5</attempts>
    <run_on_start>yes</run_on_start>
    <disabled>no</disabled>
  </wodle>
  <wodle name="osquery">
    <disabled>yes</disabled>
    <run_daemon>yes</run_daemon>
    <log_path>/var/log/osquery/osqueryd.results.log</log_path>
    <pack name="site">/etc/osquery/packs/site.conf</pack>
  </wodle>
</agent_config>

<agent_config os="^Windows|Microsoft Windows">
  <rootcheck>
    <disabled>no</disabled>
    <windows_apps>./shared/win_applications_rcl.txt</windows_apps>
    <windows_malware>./shared/win_malware_rcl.txt</windows_malware>
    <windows_audit>./shared/win_audit_rcl.txt</windows_audit>
    <check_winapps>yes</check_winapps>
  </rootcheck>
  <syscheck>
    <disabled>no</disabled>
    <frequency>43200</frequency>
    <directories recursion_level="0" restrict="regedit.exe$|system.ini$|win.ini$">%WINDIR%</directories>
    <directories recursion_level="0" restrict="at.exe$|cmd.exe$|net.exe$">%WINDIR%\\SysNative</directories>
    <directories check_all="yes" check_attrs="yes" realtime="yes">%PROGRAMDATA%\\Microsoft\\Windows\\Start Menu\\Programs\\Startup</directories>
    <directories whodata="yes">C:\\Users\\Public, D:\\data</directories>
    <ignore type="sregex">.log$|.htm$|.jpg$|.png$|.chm$|.pnf$|.evtx$</ignore>
    <windows_registry>HKEY_LOCAL_MACHINE\\Software\\Classes\\batfile</windows_registry>
    <windows_registry arch="both" recursion_level="512" check_sum="yes">HKEY_LOCAL_MACHINE\\Software\\Policies</windows_registry>
    <registry_ignore>HKEY_LOCAL_MACHINE\\Security\\Policy\\Secrets</registry_ignore>
    <registry_ignore type="sregex">\\Enum$</registry_ignore>
    <registry_ignore_value type="sregex">\\Value$</registry_ignore_value>
    <windows_audit_interval>60</windows_audit_interval>
    <registry_limit>
      <enabled>yes</enabled>
      <entries>100000</entries>
    </registry_limit>
    <synchronization>
      <registry_enabled>yes</registry_enabled>
    </synchronization>
  </syscheck>
  <localfile>
    <location>Security</location>
    <log_format>eventchannel</log_format>
    <query>Event/System[EventID != 5145 and EventID != 5156 and EventID != 4656 and EventID < 9000]</query>
    <reconnect_time>10s</reconnect_time>
  </localfile>
  <localfile>
    <location>Microsoft-Windows-Sysmon/Operational</location>
    <log_format>eventchannel</log_format>
    <query>
      <QueryList>
        <Query Id="0" Path="Security"><Select Path="Security">*[System[(Level=1)]]</Select></Query>
      </QueryList>
    </query>
  </localfile>
  <localfile>
    <location>%SystemDrive%\\inetpub\\logs\\LogFiles\\W3SVC1\\u_ex%y%m%d.log</location>
    <log_format>iis</log_format>
  </localfile>
  <wodle name="command">
    <disabled>no</disabled>
    <tag>hotfixes</tag>
    <command>powershell.exe -c "Get-HotFix | Where-Object { $_.InstalledOn -gt 0 }"</command>
    <interval>1d</interval>
    <time>04:00</time>
    <ignore_output>no</ignore_output>
  </wodle>
  <wodle name="cis-cat">
    <disabled>yes</disabled>
    <timeout>1800</timeout>
    <java_path>\\\\server\\jre\\bin\\java.exe</java_path>
  </wodle>
</agent_config>

<agent_config os="Darwin|macOS">
  <localfile>
    <location>macos</location>
    <log_format>macos</log_format>
    <query type="trace,log,activity" level="info">(process == "sudo") or (process == "sessionlogoutd" and message contains "logout")</query>
  </localfile>
</agent_config>

<agent_config profile="cloud">
  <wodle name="aws-s3">
    <disabled>no</disabled>
    <interval>10m</interval>
    <bucket type="cloudtrail">
      <name>trail-bucket</name>
      <aws_profile>default</aws_profile>
    </bucket>
  </wodle>
  <wodle name="azure-logs">
    <disabled>yes</disabled>
  </wodle>
  <gcp-pubsub>
    <enabled>yes</enabled>
    <project_id>site</project_id>
    <subscription_name>events</subscription_name>
    <credentials_file>wodles/gcloud/credentials.json</credentials_file>
  </gcp-pubsub>
  <github>
    <enabled>yes</enabled>
    <interval>1m</interval>
    <api_auth>
      <org_name>site</org_name>
      <api_token>secret</api_token>
    </api_auth>
  </github>
  <office365>
    <enabled>yes</enabled>
  </office365>
  <ms-graph>
    <enabled>yes</enabled>
  </ms-graph>
  <fluent-forward>
    <enabled>no</enabled>
  </fluent-forward>
</agent_config>

<agent_config name="^db-0|^db-1">
  <socket>
    <name>collector</name>
    <location>/run/collector.sock</location>
    <mode>tcp</mode>
    <prefix>db: </prefix>
  </socket>
  <localfile>
    <log_format>postgresql_log</log_format>
    <location>/var/log/postgresql/postgresql-%Y-%m-%d.log</location>
    <target>agent,collector</target>
    <age>1d</age>
  </localfile>
</agent_config>
`;
