//! Which endpoint a request is for.

use crate::notification::NotificationId;

/// An endpoint of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// `POST /v1/notifications`
    Create,
    /// `POST /v1/notifications/{id}/cancel`
    Cancel(NotificationId),
    /// `POST /v1/notifications/{id}/resolution`
    Resolution(NotificationId),
    /// `GET /v1/notifications/{id}`
    Status(NotificationId),
    /// `GET /v1/notifications/{id}/evidence`
    Evidence(NotificationId),
}

/// A request that is for no endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteFault {
    /// No such path, or an id that cannot exist: the same answer as for one that does not.
    NotFound,
    /// The path takes another method.
    MethodNotAllowed {
        /// The one it takes.
        allow: &'static str,
    },
}

impl Route {
    /// The gateway's route for it.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Create => "POST /v1/notifications",
            Self::Cancel(_) => "POST /v1/notifications/{id}/cancel",
            Self::Resolution(_) => "POST /v1/notifications/{id}/resolution",
            Self::Status(_) => "GET /v1/notifications/{id}",
            Self::Evidence(_) => "GET /v1/notifications/{id}/evidence",
        }
    }

    /// Finds the endpoint.
    ///
    /// # Errors
    /// [`RouteFault`].
    pub fn of(method: &str, path: &str) -> Result<Self, RouteFault> {
        let mut segments = path.strip_prefix("/v1/notifications").ok_or(RouteFault::NotFound)?.split('/');
        let (lead, id, rest, end) = (segments.next(), segments.next(), segments.next(), segments.next());
        if lead != Some("") || end.is_some() {
            return Err(RouteFault::NotFound);
        }
        let expect = |allow: &'static str| {
            if method == allow { Ok(()) } else { Err(RouteFault::MethodNotAllowed { allow }) }
        };
        let Some(id) = id else { return expect("POST").map(|()| Self::Create) };
        let id = NotificationId::parse(id).ok_or(RouteFault::NotFound)?;
        match rest {
            None => expect("GET").map(|()| Self::Status(id)),
            Some("evidence") => expect("GET").map(|()| Self::Evidence(id)),
            Some("cancel") => expect("POST").map(|()| Self::Cancel(id)),
            Some("resolution") => expect("POST").map(|()| Self::Resolution(id)),
            Some(_) => Err(RouteFault::NotFound),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_endpoint_has_one_method_and_one_path() {
        let id = format!("ntf_{}", "a".repeat(32));
        let parsed = NotificationId::parse(&id).unwrap();
        let at = |suffix: &str| format!("/v1/notifications/{id}{suffix}");
        assert_eq!(Route::of("POST", "/v1/notifications"), Ok(Route::Create));
        assert_eq!(Route::of("GET", &at("")), Ok(Route::Status(parsed.clone())));
        assert_eq!(Route::of("GET", &at("/evidence")), Ok(Route::Evidence(parsed.clone())));
        assert_eq!(Route::of("POST", &at("/cancel")), Ok(Route::Cancel(parsed.clone())));
        assert_eq!(Route::of("POST", &at("/resolution")), Ok(Route::Resolution(parsed)));
        assert_eq!(Route::of("GET", &at("/resolution")), Err(RouteFault::MethodNotAllowed { allow: "POST" }));
        assert_eq!(Route::of("GET", "/v1/notifications"), Err(RouteFault::MethodNotAllowed { allow: "POST" }));
        assert_eq!(Route::of("DELETE", &at("")), Err(RouteFault::MethodNotAllowed { allow: "GET" }));
        for path in
            ["/", "", "/v1", "/v1/notification", "/v1/notificationsx", "/v1/notifications/", "/v2/notifications"]
        {
            assert_eq!(Route::of("GET", path), Err(RouteFault::NotFound), "{path}");
        }
        for suffix in ["/", "/evidence/", "/other", "/evidence/x"] {
            assert_eq!(Route::of("GET", &at(suffix)), Err(RouteFault::NotFound), "{suffix}");
        }
        for method in ["GET", "POST"] {
            assert_eq!(Route::of(method, "/v1/notifications/ntf_1"), Err(RouteFault::NotFound), "{method}");
        }
    }
}
