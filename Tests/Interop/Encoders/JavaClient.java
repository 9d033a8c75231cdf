// Sends forms with Apache HttpClient (Debian: libhttpmime-java), names in UTF-8.
//
//     java -cp ... JavaClient {URL FORM}...

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.apache.http.client.methods.CloseableHttpResponse;
import org.apache.http.client.methods.HttpPost;
import org.apache.http.entity.ContentType;
import org.apache.http.entity.mime.HttpMultipartMode;
import org.apache.http.entity.mime.MultipartEntityBuilder;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.util.EntityUtils;

public final class JavaClient {
    public static void main(String[] jobs) throws Exception {
        try (CloseableHttpClient client = HttpClients.createDefault()) {
            for (int index = 0; index + 1 < jobs.length; index += 2) {
                HttpPost request = new HttpPost(jobs[index]);
                request.setEntity(form(Path.of(jobs[index + 1])).build());
                try (CloseableHttpResponse response = client.execute(request)) {
                    EntityUtils.consume(response.getEntity());
                    if (response.getStatusLine().getStatusCode() != 200) {
                        throw new IllegalStateException(jobs[index] + ": " + response.getStatusLine());
                    }
                }
            }
        }
    }

    private static MultipartEntityBuilder form(Path path) throws Exception {
        MultipartEntityBuilder form = MultipartEntityBuilder.create()
            .setMode(HttpMultipartMode.RFC6532)
            .setCharset(StandardCharsets.UTF_8);
        for (String line : Files.readAllLines(path, StandardCharsets.US_ASCII)) {
            String[] words = line.split(" ");
            for (int index = 1; index < words.length; index++) {
                words[index] = words[index].equals("=")
                    ? "" : new String(Base64.getDecoder().decode(words[index]), StandardCharsets.UTF_8);
            }
            if (words[0].equals("text")) {
                form.addTextBody(words[1], words[2], ContentType.TEXT_PLAIN.withCharset(StandardCharsets.UTF_8));
            } else {
                form.addBinaryBody(words[1], new File(words[4]), ContentType.create(words[3]), words[2]);
            }
        }
        return form;
    }
}
