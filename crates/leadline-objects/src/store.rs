//! Where objects lie: a scheme with its options, and the client that speaks to it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use leadline_workloads::Refusal;
use opendal::layers::HttpClientLayer;
use opendal::raw::HttpClient;
use opendal::{services, Configurator, Operator};
use schemars::JsonSchema;
use serde::de::{self, Deserializer, Visitor};
use serde::Deserialize;

use crate::failures::sentence_of;
use crate::refuse_unless;

/// Longer than any server takes to accept; without it a lost packet decides how long a refusal takes.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// An object store, named as opendal names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// "fs", "s3", "gcs", "azblob", "oss", "cos" or "obs".
    pub scheme: String,
    /// opendal's options of that service, such as `bucket` and `endpoint`. No secrets: a step is written to a file.
    pub options: BTreeMap<String, String>,
    /// Environment variable that holds further options as one JSON object: the place for keys and tokens.
    #[serde(default)]
    pub secrets_variable: Option<String>,
}

macro_rules! services {
    ($($scheme:literal: $service:ident, $config:ident;)+) => {
        /// What this executable was built with.
        pub const SCHEMES: &[&str] = &[$($scheme),+];

        /// The options of a service, as its configuration declares them.
        fn known_options(scheme: &str) -> &'static [&'static str] {
            match scheme {
                $($scheme => field_names::<services::$config>(),)+
                _ => &[],
            }
        }

        fn build(scheme: &str, options: BTreeMap<String, String>) -> opendal::Result<Operator> {
            match scheme {
                $($scheme => Ok(Operator::from_config(services::$config::from_iter(options)?)?.finish()),)+
                _ => unreachable!("checked before"),
            }
        }
    };
}

services! {
    "azblob": Azblob, AzblobConfig;
    "cos": Cos, CosConfig;
    "fs": Fs, FsConfig;
    "gcs": Gcs, GcsConfig;
    "obs": Obs, ObsConfig;
    "oss": Oss, OssConfig;
    "s3": S3, S3Config;
}

impl Store {
    /// A client with connections of its own. Refuses unknown schemes and options, and what the service refuses.
    pub fn operator(&self) -> Result<Operator, Refusal> {
        refuse_unless(SCHEMES.contains(&self.scheme.as_str()), || {
            format!("there is no object store \"{}\": known are {}", self.scheme, SCHEMES.join(", "))
        })?;
        let options = self.all_options()?;
        self.check_directory()?;
        let known = known_options(&self.scheme);
        if let Some(unknown) = options.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(Refusal(format!(
                "{} has no option \"{unknown}\": known are {}",
                self.scheme,
                known.join(", ")
            )));
        }
        choose_cryptography();
        let operator = build(&self.scheme, options)
            .map_err(|error| Refusal(format!("{}: {}", self.scheme, sentence_of(&error))))?;
        Ok(operator.layer(HttpClientLayer::new(HttpClient::with(connections()?))))
    }

    /// The folder that is the root of the store, where it is a directory of this machine.
    pub fn directory(&self) -> Option<&str> {
        (self.scheme == "fs").then(|| self.options.get("root").map(String::as_str)).flatten()
    }

    /// opendal would make a directory that is not there, and an unmounted mount point would be measured.
    fn check_directory(&self) -> Result<(), Refusal> {
        let Some(root) = self.directory() else { return Ok(()) };
        refuse_unless(Path::new(root).is_absolute() && Path::new(root).is_dir(), || {
            format!("{root} is not a directory; make it first, and name it by its whole path")
        })
    }

    fn all_options(&self) -> Result<BTreeMap<String, String>, Refusal> {
        let mut options = self.options.clone();
        let Some(variable) = &self.secrets_variable else { return Ok(options) };
        let text = std::env::var(variable)
            .map_err(|_| Refusal(format!("the environment has no {variable}, which holds the secrets")))?;
        let secrets: BTreeMap<String, String> = serde_json::from_str(&text)
            .map_err(|_| Refusal(format!("{variable} is not a JSON object of texts")))?; // never quoted
        options.extend(secrets);
        Ok(options)
    }
}

/// For TLS. opendal makes a client of its own before it is given ours, so this comes before anything else.
fn choose_cryptography() {
    static CHOSEN: Once = Once::new();
    CHOSEN.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// Nothing between the load and the server: no proxy, and no request sent twice on its own account.
fn connections() -> Result<reqwest::Client, Refusal> {
    reqwest::Client::builder()
        .no_proxy()
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_WITHIN)
        .tcp_nodelay(true)
        .build()
        .map_err(|error| Refusal(format!("this machine cannot make connections: {error}")))
}

/// The names that a configuration reads: opendal ignores others silently, and a misspelt option would measure the
/// wrong thing.
fn field_names<Config: for<'any> Deserialize<'any>>() -> &'static [&'static str] {
    struct Names<'found>(&'found mut &'static [&'static str]);

    impl<'de> Deserializer<'de> for Names<'_> {
        type Error = de::value::Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(de::Error::custom("only the names are wanted"))
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            *self.0 = fields;
            self.deserialize_any(visitor)
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut names: &'static [&'static str] = &[];
    let _ = Config::deserialize(Names(&mut names));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(scheme: &str, options: &[(&str, &str)]) -> Store {
        let options = options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        Store { scheme: scheme.to_owned(), options, secrets_variable: None }
    }

    #[test]
    fn every_service_tells_its_options() {
        for scheme in SCHEMES {
            let known = known_options(scheme);
            assert!(known.contains(&"root"), "{scheme}: {known:?}");
        }
    }

    #[test]
    fn an_option_that_opendal_would_ignore_is_refused() {
        let refusal = store("fs", &[("rot", "/tmp")]).operator().unwrap_err();
        assert!(refusal.0.starts_with("fs has no option \"rot\": known are"), "{refusal}");
    }

    #[test]
    fn an_unknown_scheme_is_refused_with_those_that_are_known() {
        let refusal = store("ftp", &[]).operator().unwrap_err();
        assert!(refusal.0.contains("known are azblob, cos, fs"), "{refusal}");
    }

    #[test]
    fn secrets_that_are_missing_are_named_by_their_variable() {
        let mut store = store("s3", &[("bucket", "b")]);
        store.secrets_variable = Some("LEADLINE_TEST_NO_SUCH_VARIABLE".to_owned());
        assert!(store.operator().unwrap_err().0.contains("LEADLINE_TEST_NO_SUCH_VARIABLE"));
    }
}
